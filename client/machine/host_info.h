// What a project learns about this machine, and what the agent needs of it.
#pragma once

#include <cstdint>
#include <string>

namespace quorate::client {

// Physical cores among the processors that this process may use; at least 1.
std::uint32_t physical_cores();

// Of the whole machine, in MiB; other programs may use some of it.
std::uint32_t machine_memory_mb();

// "linux-x86_64, 8 cores, 15 GiB".
std::string platform_text();

// The machine's name in the network.
std::string host_name();

}  // namespace quorate::client

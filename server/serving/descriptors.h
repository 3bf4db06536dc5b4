// How many connections the process's limit of open files bears: a server that
// runs out of descriptors cannot open its own store.
#pragma once

#include <cstddef>
#include <cstdint>

namespace quorate {

// The most connections, not more than `wanted`, for that many open files. A
// connection that sends or receives a file has two; the store, the objects, the
// log and the house workers keep a reserve. Never under 8, the least that can
// be set.
std::size_t connections_within(std::uint64_t open_files, std::size_t wanted);

// Raises this process's limit as far as it may, and returns it.
std::uint64_t raise_open_files();

// If fewer than `wanted` are taken: a line in the log that says how to raise
// the limit.
void warn_of_fewer_connections(std::size_t taken, std::size_t wanted);

}  // namespace quorate

// seccomp: which system calls the threads of this process may make. What is
// refused fails with EPERM, a new kind of thread or file call with ENOSYS, as
// on a kernel that does not have it: libraries then take the older one.
#pragma once

#include <string>

namespace quorate::worker {

// Computing on the CPU: files that are open or may be opened, memory, threads,
// time. All else is refused. Returns why it cannot; empty: it holds.
std::string allow_calls();

// With a driver, whose calls nobody knows: all but those by which a program
// gets at others, at the network, or at more rights.
std::string deny_calls();

}  // namespace quorate::worker

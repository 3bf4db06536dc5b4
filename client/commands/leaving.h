// When a command that goes on until it is told to stop has to stop.
#pragma once

#include <atomic>

namespace quorate::client {

// From now on SIGINT, SIGTERM and SIGHUP (the terminal was closed) set what
// should_leave() returns, once; the second one ends the program.
void catch_signals();
const std::atomic<bool>& should_leave();

}  // namespace quorate::client

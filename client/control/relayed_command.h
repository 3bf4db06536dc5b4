// A program whose output and errors go to a caller, as frames, as they come.
#pragma once

#include <stop_token>
#include <string>
#include <vector>

namespace quorate::client {

// Runs argv, whose first is a path, with nothing on standard input, until it
// ends. Told to end (SIGTERM, five seconds later SIGKILL) when the caller has
// hung up, or by `stop`. Then the caller gets its exit code, 128 + N of one
// that signal N ended. Throws io when it cannot be started.
// caller: a connected socket. From a thread that lives as long as the call:
// the program dies with it.
void relay_command(const std::vector<std::string>& argv, int caller,
                   const std::stop_token& stop);

// Writes all of it; false when the caller is gone, or has not read for half a
// minute.
bool send_all(int socket, const std::string& bytes);

}  // namespace quorate::client

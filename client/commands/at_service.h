// Commands that this computer's service does, in the place of this process.
#pragma once

#include <span>
#include <string>
#include <vector>

namespace quorate::client {

// Whether its service is meant by somebody who names no folder: it is there,
// does such a command, and they have no projects in a folder of their own.
// words: the command line without the program's name.
bool is_for_this_service(std::span<const std::string> words);

// Returns the exit code. The service does it all but for opening a browser,
// which is the person's. Throws unavailable if it has gone.
int act_at_service(std::vector<std::string> words);

}  // namespace quorate::client

// What keeps two of the operator's commands from disturbing each other.
#pragma once

#include <string>

#include "base/file.h"

namespace quorate {

// Throws unavailable if it is taken: `command` cannot be done while `what` goes
// on.
FileLock lock_for(const std::string& command, const fs::path& path,
                  const std::string& what);

}  // namespace quorate

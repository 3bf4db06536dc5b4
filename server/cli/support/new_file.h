// A file that a command is to write.
#pragma once

#include <string>

#include "base/file.h"

namespace quorate {

// Said before anything is computed or overwritten: throws usage, naming
// `command`, if `out` is a folder, in none, or there already.
void expect_new_file(const std::string& command, const fs::path& out,
                     bool may_replace);

}  // namespace quorate

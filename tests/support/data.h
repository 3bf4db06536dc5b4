// Files that tests read: golden files in the source tree, and data sets that
// not every machine has.
#pragma once

#include <optional>
#include <string>

#include "base/file.h"

namespace quorate::test {

// A path within the data sets that QUORATE_DATA points to; nullopt, for a skip
// by name, if it is not set or the path is not there.
std::optional<fs::path> data_path(const std::string& relative);

// The content of a golden file. With QUORATE_WRITE_GOLDEN set, writes `actual`
// to it first: for a new format, never to make a failing test pass.
Bytes golden(const fs::path& file, ByteView actual);

}  // namespace quorate::test

// Landlock: which files this thread, and those that it starts, may open.
#pragma once

#include <string>
#include <vector>

#include "base/file.h"

namespace quorate::worker {

struct FileRules {
  std::vector<fs::path> read;   // with all below them
  std::vector<fs::path> write;  // as devices: neither made nor removed
  std::vector<fs::path> own;    // files and folders are made there, too
  bool may_execute = false;     // what it may read
};

// Paths that are not there are passed over. What the kernel knows beyond files
// is refused, too: TCP, signals to others, sockets without a name in the file
// system. Returns why it cannot; empty: it holds.
std::string restrict_files(const FileRules& rules);

}  // namespace quorate::worker

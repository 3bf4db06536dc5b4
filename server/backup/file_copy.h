// What backup and restore do to files.
#pragma once

#include "base/crypto.h"
#include "base/file.h"

namespace quorate {

struct CopiedFile {
  Hash hash;
  std::uint64_t bytes = 0;
};

// Copies a plain file (throws corrupt for a link or device) to a new one.
// Durable after sync_all().
CopiedFile copy_plain_file(const fs::path& from, const fs::path& to, int mode);
// Reads it whole. Throws corrupt for a link or device, io.
CopiedFile hash_plain_file(const fs::path& path);

// Makes everything written to the file system of `folder` durable.
void sync_all(const fs::path& folder);

// A folder that is filled; what was put into it is removed again unless keep()
// is called.
class NewFolder {
 public:
  // Makes it, with this mode. Throws usage, beginning with `what`, if it is
  // there and not empty.
  NewFolder(const fs::path& path, fs::perms mode, const std::string& what);
  ~NewFolder();
  NewFolder(const NewFolder&) = delete;
  NewFolder& operator=(const NewFolder&) = delete;
  void keep() { is_kept_ = true; }

 private:
  fs::path path_;
  bool was_there_ = false;
  bool is_kept_ = false;
};

}  // namespace quorate

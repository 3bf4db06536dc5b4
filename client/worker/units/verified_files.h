// Files that were checked against their hash, kept mapped: small units of one
// shard follow each other, and hashing it again would cost more than computing.
#pragma once

#include <cstdint>
#include <deque>
#include <string>

#include <sys/types.h>

#include "base/crypto.h"
#include "base/file.h"

namespace quorate::worker {

class VerifiedFiles {
 public:
  // How many files stay mapped.
  static constexpr std::size_t kKept = 4;

  // The bytes of the file, valid until kKept other files were asked for.
  // Throws io if it cannot be read, corrupt, naming `what`, unless its bytes
  // have this hash. A file that was changed since is checked again.
  ByteView get(const std::string& path, const Hash& hash,
               const std::string& what);

 private:
  // What changes when a file is replaced or written.
  struct Stamp {
    dev_t device = 0;
    ino_t inode = 0;
    off_t size = 0;
    std::int64_t modified_ns = 0;
    bool operator==(const Stamp&) const = default;
  };
  struct Entry {
    Stamp stamp;
    Hash hash;
    MappedFile file;
  };
  static Stamp stamp_of(const std::string& path);

  std::deque<Entry> entries_;  // the last used is the last
};

}  // namespace quorate::worker

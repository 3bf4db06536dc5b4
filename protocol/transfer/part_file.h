// A file that is collected until it is whole: what is there is hashed, what
// comes is appended.
#pragma once

#include "base/crypto.h"
#include "base/file.h"

namespace quorate {

class PartFile {
 public:
  // Goes on with what is there, unless that is more than `most` bytes. Throws
  // io, as all that follow.
  PartFile(const fs::path& path, std::uint64_t most);

  std::uint64_t size() const { return size_; }
  void append(ByteView bytes);
  // From the first byte on.
  void restart();
  // The hash of all that is there; append() may not follow.
  Hash finish() { return hash_.finish(); }

 private:
  fs::path path_;
  FileDescriptor file_;
  Sha256 hash_;
  std::uint64_t size_ = 0;
};

}  // namespace quorate

#include "protocol/transfer/part_file.h"

#include <fcntl.h>
#include <unistd.h>

#include "base/error.h"

namespace quorate {

PartFile::PartFile(const fs::path& path, std::uint64_t most)
    : path_(path), file_(open_file(path, O_RDWR | O_CREAT, 0600)) {
  MappedFile there(path);
  if (there.bytes().size() > most) {
    restart();
    return;
  }
  hash_.update(there.bytes());
  size_ = there.bytes().size();
  if (::lseek(file_.get(), 0, SEEK_END) < 0) {
    throw_errno("seek " + path.string());
  }
}

void PartFile::append(ByteView bytes) {
  write_all(file_.get(), bytes, path_);
  hash_.update(bytes);
  size_ += bytes.size();
}

void PartFile::restart() {
  if (::ftruncate(file_.get(), 0) != 0 ||
      ::lseek(file_.get(), 0, SEEK_SET) < 0) {
    throw_errno("truncate " + path_.string());
  }
  hash_.finish();
  size_ = 0;
}

}  // namespace quorate

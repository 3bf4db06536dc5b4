#include "client/worker/units/verified_files.h"

#include <algorithm>

#include <fmt/format.h>
#include <sys/stat.h>

#include "base/error.h"

namespace quorate::worker {

VerifiedFiles::Stamp VerifiedFiles::stamp_of(const std::string& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) throw_errno("open " + path);
  return {status.st_dev, status.st_ino, status.st_size,
          status.st_mtim.tv_sec * 1'000'000'000LL + status.st_mtim.tv_nsec};
}

ByteView VerifiedFiles::get(const std::string& path, const Hash& hash,
                            const std::string& what) {
  Stamp stamp = stamp_of(path);
  auto known =
      std::find_if(entries_.begin(), entries_.end(), [&](const Entry& entry) {
        return entry.hash == hash && entry.stamp == stamp;
      });
  Entry entry;
  if (known != entries_.end()) {
    entry = std::move(*known);
    entries_.erase(known);
  } else {
    entry = {stamp, hash, MappedFile(path)};
    Hash found = sha256(entry.file.bytes());
    if (found != hash) {
      throw Error(ErrorKind::corrupt,
                  fmt::format("{} {}: expected a file with SHA-256 {}, found "
                              "{}; fetch it again",
                              what, path, hash.hex(), found.hex()));
    }
  }
  entries_.push_back(std::move(entry));
  if (entries_.size() > kKept) entries_.pop_front();
  return entries_.back().file.bytes();
}

}  // namespace quorate::worker

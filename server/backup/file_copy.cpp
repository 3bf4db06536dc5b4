#include "server/backup/file_copy.h"

#include <functional>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"

namespace quorate {
namespace {

constexpr std::size_t kChunk = 1 << 20;

// No links: a backup from elsewhere must not read this machine's other files.
// Not blocking: nor wait for whoever writes into a pipe.
FileDescriptor open_plain_file(const fs::path& path) {
  if (fs::is_symlink(path)) {
    throw Error(ErrorKind::corrupt,
                fmt::format("copy {}: expected a plain file, found a link",
                            path.string()));
  }
  FileDescriptor file = open_file(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
  struct stat status {};
  if (::fstat(file.get(), &status) != 0) throw_errno("copy " + path.string());
  if (!S_ISREG(status.st_mode)) {
    throw Error(ErrorKind::corrupt,
                fmt::format("copy {}: expected a plain file", path.string()));
  }
  return file;
}

CopiedFile read_plain_file(const fs::path& path,
                           const std::function<void(ByteView)>& take) {
  FileDescriptor file = open_plain_file(path);
  Sha256 digest;
  CopiedFile copied;
  Bytes chunk(kChunk);
  for (;;) {
    ssize_t got = ::read(file.get(), chunk.data(), chunk.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) throw_errno("read " + path.string());
    if (got == 0) break;
    ByteView bytes = ByteView(chunk).first(static_cast<std::size_t>(got));
    digest.update(bytes);
    take(bytes);
    copied.bytes += bytes.size();
  }
  copied.hash = digest.finish();
  return copied;
}

}  // namespace

CopiedFile copy_plain_file(const fs::path& from, const fs::path& to, int mode) {
  FileDescriptor target = open_file(to, O_WRONLY | O_CREAT | O_EXCL, mode);
  return read_plain_file(
      from, [&](ByteView bytes) { write_all(target.get(), bytes, to); });
}

CopiedFile hash_plain_file(const fs::path& path) {
  return read_plain_file(path, [](ByteView) {});
}

void sync_all(const fs::path& folder) {
  FileDescriptor opened = open_file(folder, O_RDONLY | O_DIRECTORY);
  if (::syncfs(opened.get()) != 0) throw_errno("sync " + folder.string());
}

NewFolder::NewFolder(const fs::path& path, fs::perms mode,
                     const std::string& what)
    : path_(path), was_there_(fs::exists(path)) {
  if (was_there_ && (!fs::is_directory(path) || !fs::is_empty(path))) {
    throw Error(ErrorKind::usage,
                fmt::format("{} {}: expected a new or empty folder: name "
                            "another",
                            what, path.string()));
  }
  fs::create_directories(path);
  fs::permissions(path, mode);
}

NewFolder::~NewFolder() {
  if (is_kept_) return;
  std::error_code ignored;
  if (!was_there_) {
    fs::remove_all(path_, ignored);
    return;
  }
  for (fs::directory_iterator at(path_, ignored), end; at != end;
       at.increment(ignored)) {
    fs::remove_all(at->path(), ignored);
    if (ignored) return;
  }
}

}  // namespace quorate

#include "base/file.h"

#include <atomic>
#include <cerrno>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/error.h"

#include <grp.h>
#include <pwd.h>

namespace quorate {
namespace {

// Unique among the threads and processes that write into one folder.
fs::path temporary_name(const fs::path& path) {
  static std::atomic<std::uint64_t> counter{0};
  return path.string() +
         fmt::format(".{}.{}.tmp", ::getpid(), counter.fetch_add(1));
}

fs::path folder_of(const fs::path& path) {
  return path.has_parent_path() ? path.parent_path() : fs::path(".");
}

// The owner's private group, in which nobody else is: Debian and others give
// each user one, and a umask that lets it write. Debian's OpenSSH trusts it,
// too.
bool is_group_of_owner(const struct stat& status) {
  const passwd* owner = ::getpwuid(status.st_uid);
  const group* entry = ::getgrgid(status.st_gid);
  if (owner == nullptr || entry == nullptr) return false;
  const std::string_view name = owner->pw_name;
  if (owner->pw_gid != status.st_gid || name != entry->gr_name) return false;
  char** member = entry->gr_mem;
  return member[0] == nullptr || (name == member[0] && member[1] == nullptr);
}

}  // namespace

Bytes read_file(const fs::path& path, std::uint64_t max_bytes) {
  FileDescriptor file = open_file(path, O_RDONLY);
  struct stat status {};
  if (::fstat(file.get(), &status) != 0) throw_errno("read " + path.string());
  auto size = static_cast<std::uint64_t>(status.st_size);
  if (size > max_bytes) {
    throw Error(ErrorKind::corrupt,
                fmt::format("read {}: {} bytes, allowed are {}", path.string(),
                            size, max_bytes));
  }
  Bytes bytes(size);
  std::size_t at = 0;
  while (at < bytes.size()) {
    ssize_t got = ::read(file.get(), bytes.data() + at, bytes.size() - at);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) throw_errno("read " + path.string());
    if (got == 0) break;
    at += static_cast<std::size_t>(got);
  }
  bytes.resize(at);
  return bytes;
}

std::string read_text_file(const fs::path& path, std::uint64_t max_bytes) {
  Bytes bytes = read_file(path, max_bytes);
  return std::string(as_text(bytes));
}

std::string read_secret_file(const fs::path& path, std::uint64_t max_bytes) {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) {
    throw_errno("private key " + path.string());
  }
  if ((status.st_mode & 077) != 0) {
    throw Error(ErrorKind::denied, "private key " + path.string() +
                                       ": others may read it: run chmod 600 " +
                                       path.string());
  }
  return read_text_file(path, max_bytes);
}

void write_secret_file(const fs::path& path, std::string_view text) {
  FileDescriptor file = open_file(path, O_WRONLY | O_CREAT | O_EXCL, 0600);
  write_all(file.get(), as_bytes(text), path);
  if (::fsync(file.get()) != 0) throw_errno("write " + path.string());
  sync_folder(folder_of(path));
}

void write_file_durably(const fs::path& path, ByteView bytes, int mode) {
  fs::path temporary = temporary_name(path);
  try {
    FileDescriptor file =
        open_file(temporary, O_WRONLY | O_CREAT | O_EXCL, mode);
    write_all(file.get(), bytes, temporary);
    if (::fsync(file.get()) != 0) throw_errno("write " + temporary.string());
    if (::rename(temporary.c_str(), path.c_str()) != 0) {
      throw_errno("rename " + temporary.string() + " to " + path.string());
    }
  } catch (...) {
    ::unlink(temporary.c_str());
    throw;
  }
  sync_folder(folder_of(path));
}

void sync_folder(const fs::path& folder) {
  fs::path target = folder.empty() ? fs::path(".") : folder;
  FileDescriptor file = open_file(target, O_RDONLY | O_DIRECTORY);
  if (::fsync(file.get()) != 0) throw_errno("sync " + target.string());
}

void make_private_folder(const fs::path& folder) {
  std::error_code failed;
  fs::create_directories(folder_of(folder), failed);
  bool is_there = ::mkdir(folder.c_str(), 0700) == 0 || errno == EEXIST;
  if (!is_there || ::chmod(folder.c_str(), 0700) != 0) {
    throw_errno("make folder " + folder.string());
  }
}

void expect_own_folder(const fs::path& folder) {
  struct stat status {};
  if (::stat(folder.c_str(), &status) != 0) {
    throw_errno("use " + folder.string());
  }
  const uid_t self = ::geteuid();
  if (self != 0 && status.st_uid != self) {
    throw Error(ErrorKind::denied,
                fmt::format("folder {} belongs to user {}, but this program "
                            "runs as user {}: run it as its owner, or use a "
                            "folder of your own",
                            folder.string(), status.st_uid, self));
  }
  const bool is_open =
      (status.st_mode & S_IWOTH) != 0 ||
      ((status.st_mode & S_IWGRP) != 0 && !is_group_of_owner(status));
  if (!is_open) return;
  // As /tmp is: others need it so.
  const bool is_shared = (status.st_mode & S_ISVTX) != 0;
  throw Error(
      ErrorKind::denied,
      fmt::format("other users may write to folder {}, and could put their "
                  "files in the place of yours: {}use a folder of your own",
                  folder.string(),
                  is_shared ? ""
                            : fmt::format("run chmod -R go-w {}, or ",
                                          folder.string())));
}

std::uint64_t free_space(const fs::path& path) {
  struct statvfs status {};
  if (::statvfs(path.c_str(), &status) != 0) {
    throw_errno("free space of " + path.string());
  }
  return static_cast<std::uint64_t>(status.f_bavail) * status.f_frsize;
}

void FileDescriptor::reset(int fd) {
  if (fd_ >= 0) ::close(fd_);
  fd_ = fd;
}

FileDescriptor open_file(const fs::path& path, int flags, int mode) {
  int fd = ::open(path.c_str(), flags | O_CLOEXEC, mode);
  if (fd < 0) throw_errno("open " + path.string());
  return FileDescriptor(fd);
}

void write_all(int fd, ByteView bytes, const fs::path& path) {
  while (!bytes.empty()) {
    ssize_t done = ::write(fd, bytes.data(), bytes.size());
    if (done < 0 && errno == EINTR) continue;
    if (done < 0) throw_errno("write " + path.string());
    bytes = bytes.subspan(static_cast<std::size_t>(done));
  }
}

MappedFile::MappedFile(const fs::path& path) {
  FileDescriptor file = open_file(path, O_RDONLY);
  struct stat status {};
  if (::fstat(file.get(), &status) != 0) throw_errno("map " + path.string());
  size_ = static_cast<std::size_t>(status.st_size);
  if (size_ == 0) return;
  void* data = ::mmap(nullptr, size_, PROT_READ, MAP_SHARED, file.get(), 0);
  if (data == MAP_FAILED) throw_errno("map " + path.string());
  data_ = static_cast<const std::uint8_t*>(data);
}

MappedFile::~MappedFile() {
  if (data_ != nullptr) {
    ::munmap(const_cast<std::uint8_t*>(data_), size_);
  }
}

void MappedFile::swap(MappedFile& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(size_, other.size_);
}

FileLock::FileLock(const fs::path& path)
    : fd_(open_file(path, O_RDWR | O_CREAT, 0600)) {
  // One made by an older version.
  if (::fchmod(fd_.get(), 0600) != 0) throw_errno("lock " + path.string());
  if (::flock(fd_.get(), LOCK_EX | LOCK_NB) != 0) {
    std::string holder = read_text_file(path, 64);
    throw Error(ErrorKind::denied,
                fmt::format("lock {}: in use by process {}", path.string(),
                            holder.empty() ? "(unknown)" : holder));
  }
  if (::ftruncate(fd_.get(), 0) != 0) throw_errno("lock " + path.string());
  write_all(fd_.get(), as_bytes(std::to_string(::getpid())), path);
}

}  // namespace quorate

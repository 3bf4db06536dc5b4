// Files: whole reads, durable writes, memory maps, locks.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

#include "base/bytes.h"

namespace quorate {

namespace fs = std::filesystem;

// Throws io if the file cannot be read, corrupt if it is larger than
// max_bytes.
Bytes read_file(const fs::path& path, std::uint64_t max_bytes = 1ULL << 32);
std::string read_text_file(const fs::path& path,
                           std::uint64_t max_bytes = 16 << 20);

// A private key: throws denied when others may read the file.
std::string read_secret_file(const fs::path& path, std::uint64_t max_bytes);
// Writes a new file with mode 0600, durably; throws io if it exists.
void write_secret_file(const fs::path& path, std::string_view text);

// Writes a temporary file beside `path`, syncs it, renames it into place and
// syncs the folder: after a crash the old or the new content is there, whole.
void write_file_durably(const fs::path& path, ByteView bytes, int mode = 0644);

// Makes names created in, moved to or removed from `folder` durable.
void sync_folder(const fs::path& folder);

// Makes a folder that only its owner may enter, and those above it as usual.
// One that exists becomes so. Throws io.
void make_private_folder(const fs::path& folder);

// Throws denied, with what to do, if others than its owner may write to
// `folder`: who can replace files there acts in our name. The owner's private
// group is no other. Nor may it belong to another user, unless we are root, who
// may act for anybody: its backups must go on. Reading is not our concern:
// secret files have a mode of their own.
void expect_own_folder(const fs::path& folder);

// Bytes that an ordinary user may still write on the file system of `path`.
std::uint64_t free_space(const fs::path& path);

// Owns a file descriptor.
class FileDescriptor {
 public:
  FileDescriptor() = default;
  explicit FileDescriptor(int fd) : fd_(fd) {}
  FileDescriptor(FileDescriptor&& other) noexcept : fd_(other.release()) {}
  FileDescriptor& operator=(FileDescriptor&& other) noexcept {
    reset(other.release());
    return *this;
  }
  ~FileDescriptor() { reset(); }

  int get() const { return fd_; }
  explicit operator bool() const { return fd_ >= 0; }
  int release() {
    int fd = fd_;
    fd_ = -1;
    return fd;
  }
  void reset(int fd = -1);

 private:
  int fd_ = -1;
};

// open(2) with O_CLOEXEC; throws io.
FileDescriptor open_file(const fs::path& path, int flags, int mode = 0644);
// write(2) until done; throws io.
void write_all(int fd, ByteView bytes, const fs::path& path);

// A file mapped for reading. Move-only; views into it live as long as it.
class MappedFile {
 public:
  MappedFile() = default;
  explicit MappedFile(const fs::path& path);
  MappedFile(MappedFile&& other) noexcept { swap(other); }
  MappedFile& operator=(MappedFile&& other) noexcept {
    swap(other);
    return *this;
  }
  ~MappedFile();

  ByteView bytes() const { return {data_, size_}; }

 private:
  void swap(MappedFile& other) noexcept;
  const std::uint8_t* data_ = nullptr;
  std::size_t size_ = 0;
};

// An exclusive lock on a file, which gets mode 0600: who can open it can lock
// it. Held until destruction or the process's end.
class FileLock {
 public:
  // Throws denied, naming the process that holds it, if it is taken.
  explicit FileLock(const fs::path& path);

 private:
  FileDescriptor fd_;
};

}  // namespace quorate

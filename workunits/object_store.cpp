#include "workunits/object_store.h"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <system_error>

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include "base/error.h"

namespace quorate {
namespace {

constexpr std::string_view kTemporarySuffix = ".tmp";
// Up to so many objects are synced one by one, which spares the disk what other
// programs have written.
constexpr std::size_t kFew = 2;

void make_folder(const fs::path& path) {
  std::error_code error;
  fs::create_directories(path, error);
  if (error) {
    throw Error(ErrorKind::io, fmt::format("make folder {}: {}", path.string(),
                                           error.message()));
  }
}

void remove_leftovers(const fs::path& folder) {
  std::error_code error;
  for (fs::directory_iterator at(folder, error), end; !error && at != end;
       at.increment(error)) {
    if (at->path().extension() == kTemporarySuffix) {
      std::error_code ignored;  // what stays is tried again next time
      fs::remove(at->path(), ignored);
    }
  }
  if (error) {
    throw Error(ErrorKind::io, fmt::format("read folder {}: {}",
                                           folder.string(), error.message()));
  }
}

void sync_file(const fs::path& path) {
  FileDescriptor file = open_file(path, O_RDONLY);
  if (::fsync(file.get()) != 0) throw_errno("sync " + path.string());
}

}  // namespace

ObjectStore::ObjectStore(fs::path objects, fs::path temporary)
    : ObjectReader(std::move(objects)), temporary_(std::move(temporary)) {
  make_folder(objects_);
  make_folder(temporary_);
  remove_leftovers(temporary_);
  // All of them at once: a new object then needs one folder synced, not two.
  for (int first = 0; first < 256; ++first) {
    make_folder(objects_ / fmt::format("{:02x}", first));
  }
  sync_folder(objects_);
}

bool ObjectReader::contains(const Hash& hash) const {
  return size(hash).has_value();
}

fs::path ObjectReader::path(const Hash& hash) const {
  std::string name = hash.hex();
  return objects_ / name.substr(0, 2) / name;
}

std::optional<std::uint64_t> ObjectReader::size(const Hash& hash) const {
  std::error_code error;
  std::uintmax_t size = fs::file_size(path(hash), error);
  if (error) return {};
  return size;
}

bool ObjectStore::holds(const Hash& hash, ByteView bytes) const {
  if (size(hash) != bytes.size()) return false;
  MappedFile file(path(hash));
  return std::equal(bytes.begin(), bytes.end(), file.bytes().begin(),
                    file.bytes().end());
}

std::pair<Hash, bool> ObjectStore::insert(ByteView bytes) {
  Hash hash = sha256(bytes);
  bool is_new = !contains(hash);
  if (!is_new && holds(hash, bytes)) {
    note_unsynced(hash);  // another thread may have moved it in just now
    return {hash, false};
  }
  fs::path temporary = temporary_path("object");
  try {
    FileDescriptor file =
        open_file(temporary, O_WRONLY | O_CREAT | O_EXCL, 0644);
    write_all(file.get(), bytes, temporary);
    adopt(temporary, hash);
  } catch (...) {
    ::unlink(temporary.c_str());
    throw;
  }
  return {hash, is_new};
}

void ObjectStore::adopt(const fs::path& temporary, const Hash& hash) {
  fs::path target = path(hash);
  if (::rename(temporary.c_str(), target.c_str()) != 0) {
    throw_errno("move " + temporary.string() + " to " + target.string());
  }
  note_unsynced(hash);
}

void ObjectStore::note_unsynced(const Hash& hash) {
  std::lock_guard lock(mutex_);
  unsynced_.push_back(hash);
}

void ObjectStore::sync_one(const Hash& hash) const {
  // Gone already: a snapshot that was replaced.
  if (!contains(hash)) return;
  sync_file(path(hash));
  sync_folder(path(hash).parent_path());
}

void ObjectStore::sync() {
  std::vector<Hash> unsynced;
  {
    std::lock_guard lock(mutex_);
    std::swap(unsynced, unsynced_);
  }
  if (unsynced.size() <= kFew) {
    for (const Hash& hash : unsynced) sync_one(hash);
    return;
  }
  FileDescriptor folder = open_file(objects_, O_RDONLY | O_DIRECTORY);
  if (::syncfs(folder.get()) != 0) throw_errno("sync " + objects_.string());
}

fs::path ObjectStore::temporary_path(std::string_view purpose) const {
  static std::atomic<std::uint64_t> counter{0};
  return temporary_ / fmt::format("{}.{}.{}{}", purpose, ::getpid(),
                                  counter.fetch_add(1), kTemporarySuffix);
}

std::uint64_t ObjectReader::size_of(const Hash& hash) const {
  if (std::optional<std::uint64_t> found = size(hash)) return *found;
  throw Error(ErrorKind::corrupt,
              fmt::format("object {}: missing, expected at {}: bring the file "
                          "back from a backup",
                          hash.hex(), path(hash).string()));
}

MappedFile ObjectReader::map(const Hash& hash) const {
  size_of(hash);  // for what it throws
  return MappedFile(path(hash));
}

MappedFile ObjectReader::map_checked(const Hash& hash) const {
  MappedFile file = map(hash);
  if (Hash found = sha256(file.bytes()); found != hash) {
    throw Error(ErrorKind::corrupt,
                fmt::format("object {}: changed on disk, {} has hash {}: "
                            "bring the file back from a backup",
                            hash.hex(), path(hash).string(), found.hex()));
  }
  return file;
}

Bytes ObjectReader::read(const Hash& hash) const {
  MappedFile file = map_checked(hash);
  return Bytes(file.bytes().begin(), file.bytes().end());
}

void ObjectStore::remove(const Hash& hash) {
  fs::path target = path(hash);
  if (::unlink(target.c_str()) != 0 && errno != ENOENT) {
    throw_errno("remove " + target.string());
  }
}

}  // namespace quorate

#include "workunits/objects/object_store.h"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <system_error>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
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

// False, with errno, if it could not.
bool use_now(const fs::path& path) {
  return ::utimensat(AT_FDCWD, path.c_str(), nullptr, 0) == 0;
}

std::optional<Hash> hash_named(const std::string& text) {
  try {
    return parse_hex<Hash>(text, "object");
  } catch (const Error&) {
    return std::nullopt;
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

bool ObjectStore::holds(const Hash& hash, const ByteParts& bytes) const {
  if (size(hash) != bytes.size()) return false;
  const MappedFile file(path(hash));
  ByteView left = file.bytes();
  for (ByteView part : bytes.parts()) {
    if (!std::equal(part.begin(), part.end(), left.begin())) return false;
    left = left.subspan(part.size());
  }
  return true;
}

void ObjectReader::list(const std::function<void(const Found&)>& see) const {
  std::error_code error;
  for (fs::directory_iterator folder(objects_, error), end;
       !error && folder != end; folder.increment(error)) {
    if (!folder->is_directory(error)) continue;
    for (fs::directory_iterator at(folder->path(), error); !error && at != end;
         at.increment(error)) {
      const std::optional<Hash> hash = hash_named(at->path().filename());
      if (!hash || path(*hash) != at->path()) continue;
      std::error_code gone;
      const Found found{*hash, at->file_size(gone), at->last_write_time(gone)};
      if (!gone) see(found);
    }
  }
  if (error) {
    throw Error(ErrorKind::io, fmt::format("read folder {}: {}",
                                           objects_.string(), error.message()));
  }
}

std::pair<Hash, bool> ObjectStore::insert(const ByteParts& bytes, bool own) {
  const Hash hash = bytes.hash();
  // Renewed first: what is there then stays there.
  if (renew(hash) && holds(hash, bytes)) {
    note_unsynced(hash);  // another thread may have moved it in just now
    return {hash, false};
  }
  fs::path temporary = temporary_path("object");
  try {
    FileDescriptor file =
        open_file(temporary, O_WRONLY | O_CREAT | O_EXCL, 0644);
    for (ByteView part : bytes.parts()) {
      write_all(file.get(), part, temporary);
    }
    return {hash, move_in(temporary, hash, own)};
  } catch (...) {
    ::unlink(temporary.c_str());
    throw;
  }
}

void ObjectStore::adopt(const fs::path& temporary, const Hash& hash) {
  move_in(temporary, hash, false);
}

// True if nothing was there under this hash.
bool ObjectStore::move_in(const fs::path& temporary, const Hash& hash,
                          bool own) {
  const fs::path target = path(hash);
  std::lock_guard lock(mutex_);
  const bool is_new = !contains(hash);
  // Its bytes may have come a while ago; its use begins now.
  if (!use_now(temporary) || ::rename(temporary.c_str(), target.c_str()) != 0) {
    throw_errno("move " + temporary.string() + " to " + target.string());
  }
  if (own && is_new) {
    own_.insert(hash);
  } else {
    own_.erase(hash);
  }
  unsynced_.push_back(hash);
  return is_new;
}

bool ObjectStore::renew(const Hash& hash) {
  std::lock_guard lock(mutex_);
  own_.erase(hash);
  if (use_now(path(hash))) return true;
  if (errno != ENOENT) throw_errno("renew " + path(hash).string());
  return false;
}

void ObjectStore::note_unsynced(const Hash& hash) {
  std::lock_guard lock(mutex_);
  unsynced_.push_back(hash);
}

void ObjectStore::sync(const Hash& hash) const {
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
    for (const Hash& hash : unsynced) sync(hash);
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
  std::lock_guard lock(mutex_);
  own_.erase(hash);
  unlink_object(hash);
}

void ObjectStore::remove_own(const Hash& hash) {
  std::lock_guard lock(mutex_);
  if (own_.erase(hash) != 0) unlink_object(hash);
}

fs::file_time_type ObjectStore::now() const {
  const fs::path probe = temporary_path("time");
  open_file(probe, O_WRONLY | O_CREAT | O_EXCL, 0600);
  const fs::file_time_type time = fs::last_write_time(probe);
  ::unlink(probe.c_str());
  return time;
}

bool ObjectStore::remove_unused_since(const Hash& hash,
                                      fs::file_time_type limit) {
  std::lock_guard lock(mutex_);
  std::error_code gone;
  const fs::file_time_type used = fs::last_write_time(path(hash), gone);
  if (gone || used >= limit) return false;
  own_.erase(hash);
  unlink_object(hash);
  return true;
}

void ObjectStore::unlink_object(const Hash& hash) const {
  const fs::path target = path(hash);
  if (::unlink(target.c_str()) != 0 && errno != ENOENT) {
    throw_errno("remove " + target.string());
  }
}

}  // namespace quorate

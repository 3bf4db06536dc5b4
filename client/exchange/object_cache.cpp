#include "client/exchange/object_cache.h"

#include <algorithm>
#include <optional>

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include "base/error.h"
#include "base/log.h"

namespace quorate::client {
namespace {

constexpr std::uint64_t kMostRead = 1 << 20;
constexpr const char* kPart = ".part";
// Snapshots and updates that no task needs. For one host: two runs may take
// turns. For a site: each replica's last, and those before them, which a mate
// may still fetch.
constexpr std::size_t kKeptForOne = 2;
constexpr std::size_t kKeptForSite = 32;

std::string extension_of(ObjectKind kind) {
  return "." + std::string(name_of(kind));
}

// The hash that a file is named by.
std::optional<Hash> hash_of_name(const fs::path& file) {
  try {
    return parse_hex<Hash>(file.stem().string(), "object");
  } catch (const Error&) {
    return std::nullopt;  // none of ours
  }
}

CachedShard cached_shard(const Hash& hash, const fs::directory_entry& file) {
  return {hash, file.file_size(),
          file.last_write_time().time_since_epoch().count()};
}

bool is_newer(const CachedShard& a, const CachedShard& b) {
  return a.used > b.used;
}

struct KeptFile {
  fs::path path;
  CachedShard file;
};

// The newest stays in any case.
void add_superfluous(std::vector<KeptFile> files, std::uint64_t room,
                     Keeps keeps, std::vector<fs::path>& gone) {
  std::sort(files.begin(), files.end(), [](const auto& a, const auto& b) {
    return is_newer(a.file, b.file);
  });
  const std::size_t most =
      keeps == Keeps::for_site ? kKeptForSite : kKeptForOne;
  for (std::size_t i = 1; i < files.size(); ++i) {
    const std::uint64_t size = files[i].file.size;
    if (i < most && size <= room) {
      room -= size;
    } else {
      gone.push_back(files[i].path);
    }
  }
}

}  // namespace

ObjectCache::ObjectCache(fs::path folder) : folder_(std::move(folder)) {
  fs::create_directories(folder_);
}

bool ObjectCache::contains(const ObjectRef& object) const {
  std::error_code missing;
  return fs::file_size(path(object), missing) == object.size && !missing;
}

fs::path ObjectCache::path(const ObjectRef& object) const {
  return folder_ / (object.hash.hex() + extension_of(object.kind));
}

Bytes ObjectCache::read(const ObjectRef& object) const {
  Bytes bytes = read_file(path(object), kMostRead);
  if (sha256(bytes) == object.hash) return bytes;
  throw Error(
      ErrorKind::corrupt,
      fmt::format("{}: its bytes have changed on disk", path(object).string()));
}

void ObjectCache::drop_if_changed(const ObjectRef& object) const {
  if (!contains(object)) return;
  if (sha256(MappedFile(path(object)).bytes()) == object.hash) return;
  log_warning("object_changed_on_disk", {{"file", path(object).string()}});
  fs::remove(path(object));
}

fs::path ObjectCache::part(const ObjectRef& object) const {
  return folder_ / (object.hash.hex() + kPart);
}

void ObjectCache::adopt(const ObjectRef& object) const {
  fs::path whole = part(object);
  FileDescriptor file = open_file(whole, O_RDONLY);
  if (::fsync(file.get()) != 0) throw_errno("sync " + whole.string());
  fs::rename(whole, path(object));
  sync_folder(folder_);
}

void ObjectCache::put(const ObjectRef& object, const ByteParts& bytes) const {
  const fs::path whole = part(object);
  {
    FileDescriptor file = open_file(whole, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    for (ByteView piece : bytes.parts()) write_all(file.get(), piece, whole);
  }
  adopt(object);
}

void ObjectCache::add(const ObjectRef& object, const fs::path& file) const {
  const fs::path whole = part(object);
  fs::remove(whole);
  std::error_code unlike;  // a file system without links
  fs::create_hard_link(file, whole, unlike);
  if (unlike) fs::copy_file(file, whole);
  adopt(object);
}

std::optional<fs::path> ObjectCache::snapshot(const Hash& hash) const {
  fs::path file = path({ObjectKind::snapshot, hash, 0});
  if (!fs::exists(file)) return std::nullopt;
  return file;
}

void ObjectCache::touch(const ObjectRef& object) const {
  std::error_code ignored;  // a file system without times costs only order
  fs::last_write_time(path(object), fs::file_time_type::clock::now(), ignored);
}

std::vector<Hash> ObjectCache::shards(std::size_t most) const {
  std::vector<CachedShard> found;
  try {
    for (const auto& entry : fs::directory_iterator(folder_)) {
      std::optional<Hash> hash = hash_of_name(entry.path());
      if (hash && entry.path().extension() == extension_of(ObjectKind::shard)) {
        found.push_back(cached_shard(*hash, entry));
      }
    }
  } catch (const fs::filesystem_error&) {
    return {};  // one has just gone, or the folder: for once, say nothing
  }
  std::sort(found.begin(), found.end(), is_newer);
  if (found.size() > most) found.resize(most);
  std::vector<Hash> hashes;
  hashes.reserve(found.size());
  for (const CachedShard& shard : found) hashes.push_back(shard.hash);
  return hashes;
}

void ObjectCache::prune(const std::set<Hash>& needed, std::uint64_t limit_bytes,
                        Keeps keeps) const {
  std::lock_guard lock(removing_);
  std::vector<fs::path> gone;
  std::vector<CachedShard> shards;
  std::vector<KeptFile> last;  // that are not needed, but may be soon
  for (const auto& entry : fs::directory_iterator(folder_)) {
    std::optional<Hash> hash = hash_of_name(entry.path());
    if (!hash) continue;
    const fs::path kind = entry.path().extension();
    if (kind == extension_of(ObjectKind::shard)) {
      shards.push_back(cached_shard(*hash, entry));
    } else if (needed.contains(*hash)) {
      continue;
    } else if (kind == extension_of(ObjectKind::snapshot) ||
               kind == extension_of(ObjectKind::update)) {
      last.push_back({entry.path(), cached_shard(*hash, entry)});
    } else {
      gone.push_back(entry.path());
    }
  }
  std::uint64_t room = limit_bytes;
  for (const CachedShard& shard : shards) room -= std::min(room, shard.size);
  for (const Hash& hash : superfluous(std::move(shards), needed, limit_bytes)) {
    gone.push_back(path({ObjectKind::shard, hash, 0}));
  }
  add_superfluous(std::move(last), room, keeps, gone);
  for (const fs::path& file : gone) fs::remove(file);
}

void ObjectCache::free(const std::set<Hash>& needed,
                       std::uint64_t bytes) const {
  if (bytes == 0) return;
  std::lock_guard lock(removing_);
  std::vector<KeptFile> unneeded;
  for (const auto& entry : fs::directory_iterator(folder_)) {
    std::optional<Hash> hash = hash_of_name(entry.path());
    if (!hash || needed.contains(*hash)) continue;
    std::error_code gone;  // a part that has just become whole
    const fs::directory_entry now(entry.path(), gone);
    if (!gone && now.exists()) {
      unneeded.push_back({now.path(), cached_shard(*hash, now)});
    }
  }
  std::sort(unneeded.begin(), unneeded.end(), [](const auto& a, const auto& b) {
    return is_newer(b.file, a.file);
  });
  for (const KeptFile& oldest : unneeded) {
    fs::remove(oldest.path);
    if (oldest.file.size >= bytes) return;
    bytes -= oldest.file.size;
  }
}

std::vector<Hash> superfluous(std::vector<CachedShard> shards,
                              const std::set<Hash>& needed,
                              std::uint64_t limit) {
  std::sort(shards.begin(), shards.end(),
            [&](const CachedShard& a, const CachedShard& b) {
              bool a_needed = needed.contains(a.hash);
              bool b_needed = needed.contains(b.hash);
              return a_needed != b_needed ? a_needed : a.used > b.used;
            });
  std::vector<Hash> gone;
  std::uint64_t kept = 0;
  for (const CachedShard& shard : shards) {
    kept += shard.size;
    if (kept > limit && !needed.contains(shard.hash)) {
      gone.push_back(shard.hash);
    }
  }
  return gone;
}

}  // namespace quorate::client

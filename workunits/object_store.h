// Objects (snapshots, shards, updates) in a folder, named by
// their SHA-256: DIR/ab/HASH. What is there is whole: objects are moved in.
#pragma once

#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "base/crypto.h"
#include "base/file.h"

namespace quorate {

// Reads only; may be used beside a process that holds the store.
class ObjectReader {
 public:
  explicit ObjectReader(fs::path objects) : objects_(std::move(objects)) {}

  bool contains(const Hash& hash) const;
  fs::path path(const Hash& hash) const;
  std::optional<std::uint64_t> size(const Hash& hash) const;
  // Throws corrupt if it is missing.
  std::uint64_t size_of(const Hash& hash) const;
  // Throws corrupt if it is missing. Does not hash: see map_checked().
  MappedFile map(const Hash& hash) const;
  // Throws corrupt as well if it changed on the disk.
  MappedFile map_checked(const Hash& hash) const;
  // The bytes, hashed: throws corrupt if it is missing or changed on disk.
  Bytes read(const Hash& hash) const;

 protected:
  fs::path objects_;
};

class ObjectStore : public ObjectReader {
 public:
  // objects and temporary files; both are made, on one file system. Leftover
  // temporary files of a killed process are removed: one process at a time
  // may hold a store. Safe to use from several threads.
  ObjectStore(fs::path objects, fs::path temporary);

  // There for every reader on return, and durable after the next sync().
  // Putting what is there already does nothing; what is there damaged is
  // written anew.
  Hash put(ByteView bytes) { return insert(bytes).first; }
  // The same; true if nothing was there under this hash.
  std::pair<Hash, bool> insert(ByteView bytes);
  // Takes over a finished temporary file whose bytes have this hash; durable
  // after the next sync().
  void adopt(const fs::path& temporary, const Hash& hash);
  // Makes everything put or adopted so far durable, in one go: the disk takes
  // as long for one object as for a hundred. To be called before a commit that
  // refers to them. Throws io.
  void sync();
  // A new name for a file to be adopted later.
  fs::path temporary_path(std::string_view purpose) const;
  // Removing what is not there does nothing.
  void remove(const Hash& hash);

 private:
  bool holds(const Hash& hash, ByteView bytes) const;
  void note_unsynced(const Hash& hash);
  void sync_one(const Hash& hash) const;

  fs::path temporary_;
  std::mutex mutex_;
  std::vector<Hash> unsynced_;
};

}  // namespace quorate

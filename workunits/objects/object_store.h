// Objects (snapshots, shards, updates) in a folder, named by
// their SHA-256: DIR/ab/HASH. What is there is whole: objects are moved in.
//
// The same bytes may be put by several who do not know of each other: hosts can
// upload what others made. So an object goes only if nobody has used it since:
// its file's time is when it was last put, adopted or renewed, and removing
// looks at it under the same lock.
#pragma once

#include <functional>
#include <mutex>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "base/crypto.h"
#include "base/file.h"
#include "workunits/objects/byte_parts.h"

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

  struct Found {
    Hash hash;
    std::uint64_t bytes = 0;
    fs::file_time_type used;  // when it was last put, adopted or renewed
  };
  // Shows every object, in no order; what comes or goes meanwhile may be shown
  // or not, and files that are no objects are not. Takes a few microseconds for
  // each. What `see` throws passes.
  void list(const std::function<void(const Found&)>& see) const;

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
  // Putting what is there already renews it; what is there damaged is written
  // anew.
  Hash put(const ByteParts& bytes) { return insert(bytes, false).first; }
  Hash put(ByteView bytes) { return put(ByteParts(bytes)); }
  // The same. True if nothing was there under this hash: then the object is the
  // caller's own, see remove_own().
  std::pair<Hash, bool> put_own(const ByteParts& bytes) {
    return insert(bytes, true);
  }
  // Takes over a finished temporary file whose bytes have this hash; durable
  // after the next sync().
  void adopt(const fs::path& temporary, const Hash& hash);
  // To be called before something that is to last refers to an object that it
  // did not put. False if it is not there.
  bool renew(const Hash& hash);
  // Makes everything put or adopted so far durable, in one go: the disk takes
  // as long for one object as for a hundred. To be called before a commit that
  // refers to them. Throws io.
  void sync();
  // Makes one object durable now, whatever other threads do meanwhile.
  void sync(const Hash& hash) const;
  // A new name for a file to be adopted later.
  fs::path temporary_path(std::string_view purpose) const;
  // Removing what is not there does nothing.
  void remove(const Hash& hash);
  // Removes what put_own() wrote, in this process, unless it was put, adopted
  // or renewed again: then somebody else may need it.
  void remove_own(const Hash& hash);
  // The time of the folder's file system: what is used from now on gets it, or
  // a later one.
  fs::file_time_type now() const;
  // Removes what was not put, adopted or renewed since; true if it did.
  bool remove_unused_since(const Hash& hash, fs::file_time_type limit);

 private:
  std::pair<Hash, bool> insert(const ByteParts& bytes, bool own);
  bool move_in(const fs::path& temporary, const Hash& hash, bool own);
  bool holds(const Hash& hash, const ByteParts& bytes) const;
  void unlink_object(const Hash& hash) const;
  void note_unsynced(const Hash& hash);

  fs::path temporary_;
  // Also held while a name in the folder is made, renewed or removed.
  std::mutex mutex_;
  std::vector<Hash> unsynced_;
  std::set<Hash> own_;  // written by put_own() and used by nobody else since
};

}  // namespace quorate

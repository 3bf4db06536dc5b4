// The verified objects of one project on this machine, in one folder: a host
// has dozens of them, so the fan-out of the server's ObjectStore would cost
// more than it helps, and names carry the kind: "HASH.shard".
//
// Shards stay after use (the server prefers hosts that have them), up to a
// limit, least recently used first to go. So does the last snapshot, from which
// a change may lead to the next one, and the one before it where the limit has
// room for it; a member of a site keeps more of them, for itself and its mates,
// and its own last updates. The others go with the last task that needs them.
#pragma once

#include <mutex>
#include <optional>
#include <set>
#include <vector>

#include "base/crypto.h"
#include "base/file.h"
#include "workunits/assignment.h"
#include "workunits/objects/byte_parts.h"

namespace quorate::client {

// How much stays that no task needs.
enum class Keeps {
  for_one,   // host: what changes may lead on from
  for_site,  // what its replicas and those of its mates go on from
};

// Safe to use from several threads, as long as prune() is given what the
// others use.
class ObjectCache {
 public:
  // folder: made if it is not there. Throws io.
  explicit ObjectCache(fs::path folder);

  bool contains(const ObjectRef& object) const;
  // Whether it is there or not.
  fs::path path(const ObjectRef& object) const;
  // The bytes of a small object (up to 1 MiB), hashed again. Throws io if it is
  // missing, corrupt if it is larger or has changed on disk.
  Bytes read(const ObjectRef& object) const;
  // Removes the object if it is there with other bytes than its hash says.
  void drop_if_changed(const ObjectRef& object) const;
  // Where an object is collected until it is whole.
  fs::path part(const ObjectRef& object) const;
  // Takes over a whole and verified part; durable on return. Throws io.
  void adopt(const ObjectRef& object) const;
  // Puts an object there that was made here, from bytes that have its hash;
  // durable on return. Throws io.
  void put(const ObjectRef& object, const ByteParts& bytes) const;
  // Puts an object there that is a whole file of ours, which stays where it is.
  // Durable on return. Throws io.
  void add(const ObjectRef& object, const fs::path& file) const;
  // Marks an object as used now.
  void touch(const ObjectRef& object) const;
  // The shards that are here, the last used first; at most so many. None if the
  // folder cannot be read.
  std::vector<Hash> shards(std::size_t most) const;
  // The file of a snapshot that is here.
  std::optional<fs::path> snapshot(const Hash& hash) const;
  // Removes what is not needed, as the head of this file says.
  void prune(const std::set<Hash>& needed, std::uint64_t limit_bytes,
             Keeps keeps = Keeps::for_one) const;
  // Removes so many bytes of what is not needed, whatever it is, or all of it:
  // the least recently used first.
  void free(const std::set<Hash>& needed, std::uint64_t bytes) const;

 private:
  mutable std::mutex removing_;
  fs::path folder_;
};

// What the decision below has to know of a shard.
struct CachedShard {
  Hash hash;
  std::uint64_t size = 0;
  std::int64_t used = 0;  // when, on any scale
};
// Which shards have to go so that all that stay fit into `limit` bytes; those
// needed stay in any case. Pure.
std::vector<Hash> superfluous(std::vector<CachedShard> shards,
                              const std::set<Hash>& needed,
                              std::uint64_t limit);

}  // namespace quorate::client

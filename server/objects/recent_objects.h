// Small objects that were read lately, by hash: the snapshot that many units
// started from is read and hashed once. Used by one thread.
#pragma once

#include <list>
#include <memory>
#include <unordered_map>

#include "workunits/objects/object_store.h"

namespace quorate {

class RecentObjects {
 public:
  // most_bytes: of all that is kept; an object of more than an eighth of it is
  // not small. objects: outlives it.
  explicit RecentObjects(const ObjectReader& objects,
                         std::size_t most_bytes = std::size_t{8} << 20)
      : objects_(objects), most_bytes_(most_bytes) {}

  // Null if it is not small: then it is better mapped. Throws corrupt, naming
  // it, if it is missing or damaged.
  std::shared_ptr<const Bytes> read_small(const Hash& hash);

 private:
  struct Kept {
    Hash hash;
    std::shared_ptr<const Bytes> bytes;
  };

  // Makes room by forgetting what was read longest ago; whoever still holds it
  // keeps it alive.
  void keep(const Kept& one);

  const ObjectReader& objects_;
  std::size_t most_bytes_;
  std::size_t bytes_ = 0;
  std::list<Kept> kept_;  // what was read last is first
  std::unordered_map<Hash, std::list<Kept>::iterator> by_hash_;
};

}  // namespace quorate

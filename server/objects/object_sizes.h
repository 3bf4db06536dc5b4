// Sizes of objects that are named in work again and again: each file is looked
// at once, until all are forgotten. Used by one thread.
#pragma once

#include <cstdint>
#include <unordered_map>

#include "workunits/objects/object_store.h"

namespace quorate {

class ObjectSizes {
 public:
  // objects: outlives it.
  explicit ObjectSizes(const ObjectReader& objects) : objects_(objects) {}

  // Throws corrupt, naming it, if it was missing when it was looked at.
  std::uint64_t of(const Hash& hash) {
    auto known = sizes_.find(hash);
    if (known == sizes_.end()) {
      known = sizes_.emplace(hash, objects_.size_of(hash)).first;
    }
    return known->second;
  }
  // An object that came back, or was put since, is found again after this.
  void forget() { sizes_.clear(); }

 private:
  const ObjectReader& objects_;
  std::unordered_map<Hash, std::uint64_t> sizes_;
};

}  // namespace quorate

// The MD5 of objects, which BOINC clients check downloads with. An object is
// read once, to find it, and it is remembered: a shard and a snapshot are named
// in as many replies as there are results of them.
#pragma once

#include <list>
#include <mutex>
#include <unordered_map>
#include <utility>

#include "base/weak_crypto.h"
#include "workunits/objects/object_store.h"

namespace quorate::boinc {

// Safe to use from several threads.
class ObjectMd5s {
 public:
  // most: so many are remembered, those asked for last. 200 bytes each.
  explicit ObjectMd5s(const ObjectReader& objects, std::size_t most = 10000)
      : objects_(objects), most_(most) {}

  // Takes as long as reading the object (about 2 s a GB) where it is not
  // remembered; others are not held up meanwhile. Throws corrupt if the object
  // is missing, io.
  Md5Hash of(const Hash& object);

 private:
  using Known = std::list<std::pair<Hash, Md5Hash>>;

  const Md5Hash* find(const Hash& object);
  void remember(const Hash& object, const Md5Hash& md5);

  const ObjectReader& objects_;
  const std::size_t most_;
  std::mutex mutex_;
  Known known_;  // the one asked for last first
  std::unordered_map<Hash, Known::iterator> places_;
};

}  // namespace quorate::boinc

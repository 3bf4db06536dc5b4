#include "server/objects/recent_objects.h"

#include <utility>

namespace quorate {

std::shared_ptr<const Bytes> RecentObjects::read_small(const Hash& hash) {
  auto known = by_hash_.find(hash);
  if (known != by_hash_.end()) {
    kept_.splice(kept_.begin(), kept_, known->second);
    return kept_.front().bytes;
  }
  if (objects_.size_of(hash) > most_bytes_ / 8) return nullptr;
  const Kept fresh{hash, std::make_shared<const Bytes>(objects_.read(hash))};
  keep(fresh);
  return fresh.bytes;
}

void RecentObjects::keep(const Kept& one) {
  kept_.push_front(one);
  by_hash_[one.hash] = kept_.begin();
  bytes_ += one.bytes->size();
  while (bytes_ > most_bytes_) {
    bytes_ -= kept_.back().bytes->size();
    by_hash_.erase(kept_.back().hash);
    kept_.pop_back();
  }
}

}  // namespace quorate

#include "server/doors/boinc/files/object_md5.h"

namespace quorate::boinc {

Md5Hash ObjectMd5s::of(const Hash& object) {
  {
    std::lock_guard lock(mutex_);
    if (const Md5Hash* known = find(object)) return *known;
  }
  Md5Hash found = md5(objects_.map(object).bytes());
  std::lock_guard lock(mutex_);
  // Another thread may have looked at the same time.
  if (find(object) == nullptr) remember(object, found);
  return found;
}

const Md5Hash* ObjectMd5s::find(const Hash& object) {
  auto place = places_.find(object);
  if (place == places_.end()) return nullptr;
  known_.splice(known_.begin(), known_, place->second);
  return &place->second->second;
}

void ObjectMd5s::remember(const Hash& object, const Md5Hash& md5) {
  known_.emplace_front(object, md5);
  places_.emplace(object, known_.begin());
  if (known_.size() <= most_) return;
  places_.erase(known_.back().first);
  known_.pop_back();
}

}  // namespace quorate::boinc

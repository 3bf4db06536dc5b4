#include "server/http/admission.h"

namespace quorate {

std::optional<Admission::Ticket> Admission::enter(const std::string& place) {
  std::lock_guard lock(mutex_);
  if (open_ >= max_connections_) return {};
  if (!place.empty()) {
    std::size_t& here = places_[place];
    if (here >= max_per_place_) return {};
    ++here;
  }
  ++open_;
  return std::optional<Ticket>(std::in_place, *this, place);
}

void Admission::leave(const std::string& place) {
  std::lock_guard lock(mutex_);
  if (!place.empty()) {
    auto found = places_.find(place);
    if (--found->second == 0) places_.erase(found);
  }
  if (--open_ == 0) is_empty_.notify_all();
}

std::size_t Admission::open() const {
  std::lock_guard lock(mutex_);
  return open_;
}

bool Admission::wait_until_empty(Seconds at_most) {
  std::unique_lock lock(mutex_);
  return is_empty_.wait_for(lock, at_most, [this] { return open_ == 0; });
}

}  // namespace quorate

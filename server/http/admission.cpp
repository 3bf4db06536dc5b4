#include "server/http/admission.h"

#include <algorithm>

namespace quorate {

namespace {

constexpr std::size_t kKeptForLocal = 32;

}  // namespace

std::optional<Admission::Ticket> Admission::enter(const Places& places,
                                                  bool is_local) {
  std::lock_guard lock(mutex_);
  const std::size_t most = max_connections_ + (is_local ? kKeptForLocal : 0);
  if (open_ >= most || !take_locked(places)) return {};
  ++open_;
  return std::optional<Ticket>(std::in_place, *this, places);
}

bool Admission::settle(Ticket& ticket, const Places& places) {
  std::lock_guard lock(mutex_);
  if (!take_locked(places)) return false;
  ticket.places_ = places;
  return true;
}

// In all of them or in none.
bool Admission::take_locked(const Places& places) {
  const bool is_room =
      std::all_of(places.begin(), places.end(), [this](const Place& place) {
        const auto found = places_.find(place.key);
        return found == places_.end() ||
               found->second < max_per_place_ * place.times;
      });
  if (!is_room) return false;
  for (const Place& place : places) ++places_[place.key];
  return true;
}

void Admission::leave(const Places& places) {
  std::lock_guard lock(mutex_);
  for (const Place& place : places) {
    const auto found = places_.find(place.key);
    if (--found->second == 0) places_.erase(found);
  }
  if (--open_ == 0) is_empty_.notify_all();
}

std::size_t Admission::open() const {
  std::lock_guard lock(mutex_);
  return open_;
}

bool Admission::is_crowded() const {
  return open() * 10 >= max_connections_ * 9;
}

bool Admission::wait_until_empty(Seconds at_most) {
  std::unique_lock lock(mutex_);
  return is_empty_.wait_for(lock, at_most, [this] { return open_ == 0; });
}

}  // namespace quorate

#include "server/http/admission.h"

#include <algorithm>

namespace quorate {

namespace {

constexpr std::size_t kKeptForLocal = 32;

}  // namespace

// Strangers leave more free than is_crowded() asks for: who is idle among them
// makes room before they are at their end.
std::size_t Admission::room_for(Who who) const {
  switch (who) {
    case Who::stranger:
      return max_connections_ - max_connections_ / 20;
    case Who::known:
      return max_connections_;
    case Who::local:
      return max_connections_ + kKeptForLocal;
  }
  return 0;
}

std::optional<Admission::Ticket> Admission::enter(const Places& places,
                                                  Who who) {
  std::lock_guard lock(mutex_);
  if (open_ >= room_for(who) || !take_locked(places)) return {};
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

// How many may join from one place: a token bucket each, so that a laboratory
// behind one address joins at once, and a flood does not. Used by the writer's
// thread only.
#pragma once

#include <optional>
#include <string>
#include <unordered_map>

#include "base/clock.h"
#include "server/http/clients/places.h"

namespace quorate {

// A bucket is known by the moment at which it is full again. Takes one token
// of it and moves the moment, or returns how long until there is one.
// interval: in which one token comes. size: of the bucket, as the time in which
// it fills.
std::optional<Seconds> take_token(Instant& full_at, Instant now,
                                  Seconds interval, Seconds size);
// How long until there is one; 0: now.
Seconds wait_for_token(Instant full_at, Instant now, Seconds interval,
                       Seconds size);

class JoinLimit {
 public:
  // per_minute: on average; what comes in kBurst may join at once. most_places:
  // see kMostPlaces; of places that cannot be made up it may be any number.
  JoinLimit(double per_minute, const Clock& clock,
            std::size_t most_places = kMostPlaces)
      : interval_(Seconds(60) / per_minute),
        clock_(clock),
        most_places_(most_places) {}

  static constexpr Seconds kBurst{12 * 60.0};
  // Beyond that, all further places share one bucket. A place whose bucket is
  // full again is forgotten within a minute of the next one's joining.
  static constexpr std::size_t kMostPlaces = 100'000;

  // Counts one more from all of `places` and returns nullopt; else nothing is
  // counted, and this is how long it must wait.
  std::optional<Seconds> join(const Places& places);
  std::size_t places_known() const { return full_at_.size(); }
  std::optional<Seconds> join(const std::string& place) {
    return join(Places{{place}});
  }

 private:
  Seconds interval_of(const Place& place) const {
    return interval_ / place.times;
  }
  // Under which a place's bucket is kept.
  const std::string& key_of(const Place& place) const;
  void make_room(Instant now);

  Seconds interval_;
  const Clock& clock_;
  std::size_t most_places_;
  std::unordered_map<std::string, Instant> full_at_;
  Instant next_cleaning_{};
};

}  // namespace quorate

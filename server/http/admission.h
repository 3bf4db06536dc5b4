// How many connections there may be, in all and from one place. Internal to
// server/http.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>

#include "base/clock.h"
#include "server/http/clients/places.h"

namespace quorate {

// May be used by several threads.
class Admission {
 public:
  // Stands for one connection; gives its place back when destroyed.
  class Ticket {
   public:
    Ticket(Admission& admission, Places places)
        : admission_(&admission), places_(std::move(places)) {}
    Ticket(Ticket&& other) noexcept
        : admission_(std::exchange(other.admission_, nullptr)),
          places_(std::move(other.places_)) {}
    Ticket& operator=(Ticket&&) = delete;
    ~Ticket() {
      if (admission_) admission_->leave(places_);
    }

   private:
    friend class Admission;
    Admission* admission_;
    Places places_;
  };

  Admission(std::size_t max_connections, std::size_t max_per_place)
      : max_connections_(max_connections), max_per_place_(max_per_place) {}

  // Who comes. The last twentieth of the connections is for those who are
  // known (KnownClients) alone, and some more for whoever comes over a unix
  // socket, so that an operator gets in when all the others are taken.
  enum class Who { stranger, known, local };

  // A ticket if one more connection from each of `places` may stay. What comes
  // from no place (a trusted proxy) has no limit of its own.
  std::optional<Ticket> enter(const Places& places, Who who = Who::stranger);
  // The same for a connection that was let in as one from no place, once it is
  // known whose it is. False: it may not stay, and its ticket is as before.
  bool settle(Ticket& ticket, const Places& places);

  std::size_t open() const;
  // Nearly all connections are in use.
  bool is_crowded() const;
  // Waits until no connection is open; false if that took too long.
  bool wait_until_empty(Seconds at_most);

 private:
  std::size_t room_for(Who who) const;
  bool take_locked(const Places& places);
  void leave(const Places& places);

  const std::size_t max_connections_;
  const std::size_t max_per_place_;
  mutable std::mutex mutex_;
  std::condition_variable is_empty_;
  std::size_t open_ = 0;
  std::unordered_map<std::string, std::size_t> places_;
};

}  // namespace quorate

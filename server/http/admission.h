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

namespace quorate {

// May be used by several threads.
class Admission {
 public:
  // Stands for one connection; gives its place back when destroyed.
  class Ticket {
   public:
    Ticket(Admission& admission, std::string place)
        : admission_(&admission), place_(std::move(place)) {}
    Ticket(Ticket&& other) noexcept
        : admission_(std::exchange(other.admission_, nullptr)),
          place_(std::move(other.place_)) {}
    Ticket& operator=(Ticket&&) = delete;
    ~Ticket() {
      if (admission_) admission_->leave(place_);
    }

   private:
    Admission* admission_;
    std::string place_;
  };

  Admission(std::size_t max_connections, std::size_t max_per_place)
      : max_connections_(max_connections), max_per_place_(max_per_place) {}

  // A ticket if one more connection from `place` may stay. An empty place (a
  // unix socket, a trusted proxy) has no limit of its own.
  std::optional<Ticket> enter(const std::string& place);

  std::size_t open() const;
  // Waits until no connection is open; false if that took too long.
  bool wait_until_empty(Seconds at_most);

 private:
  void leave(const std::string& place);

  const std::size_t max_connections_;
  const std::size_t max_per_place_;
  mutable std::mutex mutex_;
  std::condition_variable is_empty_;
  std::size_t open_ = 0;
  std::unordered_map<std::string, std::size_t> places_;
};

}  // namespace quorate

// The only source of time, so that tests and the simulator can bring their own.
#pragma once

#include <chrono>
#include <cstdint>

namespace quorate {

using Seconds = std::chrono::duration<double>;
// A point on a clock that never jumps; for deadlines and intervals.
using Instant = std::chrono::time_point<std::chrono::steady_clock, Seconds>;

class Clock {
 public:
  virtual ~Clock() = default;
  virtual Instant now() const = 0;
  // Milliseconds since 1970, for people and records; may jump.
  virtual std::int64_t unix_ms() const = 0;
};

class SystemClock final : public Clock {
 public:
  Instant now() const override;
  std::int64_t unix_ms() const override;
};

// A clock that moves when told to.
class ManualClock final : public Clock {
 public:
  Instant now() const override { return now_; }
  std::int64_t unix_ms() const override {
    return static_cast<std::int64_t>(now_.time_since_epoch().count() * 1000);
  }
  void advance(Seconds by) { now_ += by; }
  void set(Instant when) { now_ = when; }

 private:
  Instant now_{Seconds(1000)};
};

}  // namespace quorate

#include "base/clock.h"

namespace quorate {

Instant SystemClock::now() const {
  return std::chrono::steady_clock::now();
}

std::int64_t SystemClock::unix_ms() const {
  return std::chrono::duration_cast<std::chrono::milliseconds>(
             std::chrono::system_clock::now().time_since_epoch())
      .count();
}

}  // namespace quorate

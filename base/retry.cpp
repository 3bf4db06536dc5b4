#include "base/retry.h"

#include <algorithm>
#include <cmath>

#include "base/random.h"

namespace quorate {

Seconds retry_delay(std::uint32_t attempt, std::uint64_t seed, Seconds first,
                    Seconds most) {
  std::uint32_t doublings = std::min(attempt, 20U) - (attempt > 0 ? 1 : 0);
  Seconds whole =
      std::min(most, first * std::ldexp(1.0, static_cast<int>(doublings)));
  float jitter = uniform01(philox(seed, {attempt, 0, 0, 0})[0]);
  return whole * (0.5 + 0.5 * static_cast<double>(jitter));
}

}  // namespace quorate

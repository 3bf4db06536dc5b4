// When to try again after a failure that may pass.
#pragma once

#include <cstdint>

#include "base/clock.h"

namespace quorate {

// How long to wait before attempt `attempt` (1 is the first retry): doubles
// from `first` up to `most`, with full jitter between half and the whole, so
// that hosts that failed together do not return together. Pure: the same
// (attempt, seed) give the same delay.
Seconds retry_delay(std::uint32_t attempt, std::uint64_t seed,
                    Seconds first = Seconds(0.5), Seconds most = Seconds(60));

}  // namespace quorate

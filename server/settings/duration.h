// Times as people write them.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/clock.h"

namespace quorate {

// "90 s", "15min" or "15m", "8 h", "1.5d", "200 ms", from 0 to kMostSeconds;
// nullopt for anything else.
std::optional<Seconds> parse_duration(std::string_view text);
// In the largest unit of which it has at least one: "6h", "1.5d".
std::string duration_text(Seconds time);

// Some thirty years; a double counts milliseconds of it exactly.
inline constexpr double kMostSeconds = 1e9;
inline constexpr const char* kDurations =
    "\"90 s\", \"15 min\", \"8 h\", \"1 d\"";

}  // namespace quorate

// A pause that a person asked for: until `resume`, or for a while; or, with
// `finish`, once what is here is computed.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/clock.h"

namespace quorate::client {

struct Pause {
  std::int64_t since = 0;  // ms since 1970
  std::int64_t until = 0;  // 0: until `resume`
  bool finishes = false;   // computes what it has first
};

// How long a pause may be asked for: 30 days.
inline constexpr Seconds kLongestPause{30.0 * 86400};

// "90s", "45m", "1h30m", "1d", greater units first: over 0, at most
// kLongestPause. Throws usage.
Seconds parse_duration(std::string_view text);

// Whether it still holds. A clock that was set back to before its beginning
// ends it: it must not last for ever because of a date that was wrong. Pure.
bool holds(const Pause& pause, std::int64_t unix_ms);

// The text of the file `paused`. An empty one, or one that cannot be read,
// pauses until `resume`: the person has asked for rest.
std::string write_pause(const Pause& pause);
Pause parse_pause(std::string_view text);

// "until 14:05", with the date when it is not today's, with the seconds when it
// is short; "until resume".
std::string pause_text(const Pause& pause, std::int64_t unix_ms);

}  // namespace quorate::client

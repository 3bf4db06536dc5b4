// Lengths of time as people type them.
#pragma once

#include <optional>
#include <string_view>

namespace quorate::commandline {

// In seconds: "90s", "45m", "1h30m", "1d" are whole numbers of seconds,
// minutes, hours and days, greater units first. nullopt if it is anything else.
std::optional<double> seconds_in(std::string_view text);

}  // namespace quorate::commandline

#include "commandline/duration.h"

#include <charconv>
#include <cstdint>
#include <limits>

namespace quorate::commandline {
namespace {

double unit_seconds(char unit) {
  switch (unit) {
    case 's':
      return 1;
    case 'm':
      return 60;
    case 'h':
      return 3600;
    case 'd':
      return 86400;
    default:
      return 0;
  }
}

}  // namespace

std::optional<double> seconds_in(std::string_view text) {
  const char* at = text.data();
  const char* end = at + text.size();
  if (at == end) return std::nullopt;
  double duration = 0;
  double last_unit = std::numeric_limits<double>::infinity();
  while (at != end) {
    std::uint32_t count = 0;
    auto [stop, failed] = std::from_chars(at, end, count);
    double unit =
        failed == std::errc{} && stop != end ? unit_seconds(*stop) : 0;
    if (unit == 0 || unit >= last_unit) return std::nullopt;
    last_unit = unit;
    duration += count * unit;
    at = stop + 1;
  }
  return duration;
}

}  // namespace quorate::commandline

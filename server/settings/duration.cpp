#include "server/settings/duration.h"

#include <array>
#include <charconv>

#include <fmt/format.h>

namespace quorate {
namespace {

struct Unit {
  std::string_view name;
  double seconds;
};

constexpr std::array<Unit, 6> kUnits{{{"d", 86400},
                                      {"h", 3600},
                                      {"min", 60},
                                      {"m", 60},
                                      {"s", 1},
                                      {"ms", 0.001}}};

}  // namespace

std::optional<Seconds> parse_duration(std::string_view text) {
  double value = 0;
  const char* end = text.data() + text.size();
  auto [at, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc()) return std::nullopt;
  while (at != end && *at == ' ') ++at;
  const std::string_view name(at, static_cast<std::size_t>(end - at));
  for (const Unit& unit : kUnits) {
    const double seconds = value * unit.seconds;
    if (unit.name != name) continue;
    if (!(seconds >= 0 && seconds <= kMostSeconds)) return std::nullopt;
    return Seconds(seconds);
  }
  return std::nullopt;
}

std::string duration_text(Seconds time) {
  for (const Unit& unit : kUnits) {
    if (time.count() < unit.seconds) continue;
    return fmt::format("{:.6g}{}", time.count() / unit.seconds, unit.name);
  }
  return fmt::format("{:.6g}s", time.count());
}

}  // namespace quorate

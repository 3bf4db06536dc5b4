#include "server/making/house_aborts.h"

#include <fmt/format.h>

namespace quorate {

void HouseAborts::add(std::uint64_t unit_index, const std::string& why) {
  ++in_a_row_;
  last_ = fmt::format("in unit {}: {}", unit_index, why);
}

std::optional<std::string> HouseAborts::advice(const std::string& run) const {
  constexpr std::uint32_t kEnough = 3;
  if (in_a_row_ < kEnough) return std::nullopt;
  return fmt::format(
      "house workers aborted {} times in a row, at last {}. Stop this run and "
      "create another with another --model; or choose another house_device in "
      "quorate.toml, start the server anew, then `quorate train resume {}`",
      in_a_row_, last_, run);
}

}  // namespace quorate

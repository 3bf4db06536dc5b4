#include "client/folder/local_time.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

namespace quorate::client {

std::tm local_time(std::int64_t unix_ms) {
  auto seconds = static_cast<std::time_t>(unix_ms / 1000);
  std::tm local{};
  ::localtime_r(&seconds, &local);
  return local;
}

std::string clock_text(std::int64_t unix_ms) {
  return fmt::format("{:%H:%M:%S}", local_time(unix_ms));
}

std::string day_text(std::int64_t unix_ms) {
  return fmt::format("{:%Y-%m-%d %H:%M}", local_time(unix_ms));
}

}  // namespace quorate::client

// Times of day as this machine's people see them.
#pragma once

#include <cstdint>
#include <ctime>
#include <string>

namespace quorate::client {

// unix_ms: since 1970.
std::tm local_time(std::int64_t unix_ms);

// "17:27:45".
std::string clock_text(std::int64_t unix_ms);

// "2026-11-25 17:27", for what may be on another day.
std::string day_text(std::int64_t unix_ms);

}  // namespace quorate::client

// One line of what a project's folder holds: `quorate storage`, /metrics.
#pragma once

#include <cstdint>
#include <string>

namespace quorate {

struct StorageRow {
  std::string run;   // empty: of no run, or of several
  std::string what;  // "updates", ...
  std::uint64_t count = 0;
  std::uint64_t bytes = 0;
  bool is_in_store = false;  // part of the row "store"
};

}  // namespace quorate

// One line of what a project's folder holds: `quorate storage`, /metrics.
//
// Made by Storage (server/objects) on the file deleter's thread; the state
// keeps the last list for the writer's thread.
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

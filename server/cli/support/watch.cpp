#include "server/cli/support/watch.h"

#include <chrono>
#include <cstdio>
#include <thread>

#include <fmt/format.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/text.h"
#include "server/cli/support/interrupt.h"

namespace quorate {
namespace {

using nlohmann::json;

// How late Ctrl-C may be noticed.
constexpr Seconds kGlance{0.05};
// Clears the screen and begins at its top.
constexpr const char* kNewScreen = "\x1b[2J\x1b[H";

void show(const WatchedList& list, RowChanges& changes, bool is_terminal) {
  const json answer = list.ask();
  if (is_terminal && !list.as_json) {
    std::fputs(kNewScreen, stdout);
    say("{}", list.text(answer));
  } else {
    const json rows = changes.take(answer["rows"]);
    if (list.as_json) {
      for (const json& row : rows) say("{}\n", row.dump());
    } else if (!rows.empty()) {
      say("{}", list.text({{"rows", rows}, {"total", rows.size()}}));
    }
  }
  std::fflush(stdout);
}

}  // namespace

json RowChanges::take(const json& rows) {
  std::map<std::int64_t, json> changed;
  for (const json& row : rows) {
    const auto id = row["id"].get<std::int64_t>();
    const auto old = known_.find(id);
    if (old != known_.end() && old->second == row) continue;
    changed[id] = row;
    known_[id] = row;
  }
  json found = json::array();
  for (const auto& [id, row] : changed) found.push_back(row);
  return found;
}

void watch(const WatchedList& list) {
  const Interrupt interrupt;
  RowChanges changes;
  const bool is_terminal = ::isatty(STDOUT_FILENO) == 1;
  const SystemClock clock;
  while (!interrupt.is_requested()) {
    show(list, changes, is_terminal);
    const Instant next = clock.now() + Seconds(list.seconds);
    while (clock.now() < next && !interrupt.is_requested()) {
      std::this_thread::sleep_for(kGlance);
    }
  }
}

}  // namespace quorate

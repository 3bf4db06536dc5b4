#include "server/cli/support/watch.h"

#include <doctest/doctest.h>

namespace quorate {

TEST_CASE("a watcher sees rows that are new or changed, the oldest first") {
  using nlohmann::json;
  RowChanges changes;
  const json old = {{"id", 1}, {"state", "open"}};
  const json other = {{"id", 2}, {"state", "open"}};
  CHECK(changes.take({other, old}) == json{old, other});
  CHECK(changes.take({other, old}).empty());
  const json changed = {{"id", 1}, {"state", "validated"}};
  const json fresh = {{"id", 3}, {"state", "open"}};
  CHECK(changes.take({fresh, other, changed}) == json{changed, fresh});
  // A row that is not among the shown ones any more is no change.
  CHECK(changes.take(json::array({fresh})).empty());
  CHECK(changes.take(json::array()).empty());
}

}  // namespace quorate

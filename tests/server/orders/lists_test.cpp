#include "server/orders/lists.h"

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

namespace quorate {

TEST_CASE("the newest rows come first, and no more than asked for") {
  auto rows = nlohmann::json::parse(
      R"([{"id":3,"run":"a"},{"id":1,"run":"a"},{"id":4,"run":"b"},
          {"id":2,"run":"b"}])");
  nlohmann::json some = newest(rows, "id", 3);
  REQUIRE(some.size() == 3);
  CHECK(some[0]["id"] == 4);
  CHECK(some[1]["id"] == 3);
  CHECK(some[2]["id"] == 2);
  CHECK(newest(rows, "id", 0).empty());
  CHECK(newest(rows, "id", UINT64_MAX).size() == 4);
  CHECK(newest(nlohmann::json::array(), "id", 5).empty());
}

}  // namespace quorate

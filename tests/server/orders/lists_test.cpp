#include "server/orders/lists.h"

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "tests/server/project_fixture.h"

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

TEST_CASE("lists show what was asked for, and say how much there is") {
  using nlohmann::json;
  test::ProjectFixture project;
  ProjectState& state = project.state();
  const test::Volunteer ann = project.join(), mallory = project.join(),
                        carol = project.join();
  const Assignment honest = project.take(ann);
  const Assignment false_one = project.take(mallory);
  project.report(ann, honest);
  project.report(mallory, false_one, test::lie());
  project.report(carol, project.take(carol));
  const Assignment open = project.take(ann);

  json all = list_results(state, json::object());
  CHECK(all["total"] == all["rows"].size());
  CHECK(all["rows"][0]["id"] > all["rows"][1]["id"]);
  json first = list_results(state, {{"limit", 1}});
  CHECK(first["rows"].size() == 1);
  CHECK(first["total"] == all["total"]);

  auto only = [&](const json& arguments) {
    json rows = list_results(state, arguments)["rows"];
    REQUIRE(rows.size() == 1);
    return rows[0]["id"].get<ResultId>();
  };
  CHECK(only({{"state", "invalid"}}) == false_one.result);
  CHECK(only({{"rejected", true}}) == false_one.result);
  CHECK(only({{"host", std::to_string(mallory.host)}}) == false_one.result);
  CHECK(only({{"user", std::to_string(mallory.user)}}) == false_one.result);
  CHECK(only({{"state", "in_progress"}}) == open.result);
  CHECK(list_results(state, {{"device", "REFER"}})["total"] == 3);
  CHECK(list_results(state, {{"device", "cuda"}})["total"] == 0);
  project.pass(Seconds(3));
  CHECK(list_results(state, {{"since", "2s"}})["total"] == 0);

  const json units = list_workunits(
      state, {{"host", std::to_string(mallory.host)}, {"run", "digits"}});
  REQUIRE(units["rows"].size() == 1);
  CHECK(units["rows"][0]["state"] == "assimilated");
  CHECK(units["rows"][0]["run"] == "digits");
  CHECK(list_workunits(state, {{"state", "open"}})["total"] == 1);

  auto refused = [&](const json& arguments, const char* words) {
    CHECK_THROWS_WITH_AS(list_results(state, arguments),
                         doctest::Contains(words), Error);
  };
  refused({{"state", "fine"}}, "known are unsent, in_progress");
  refused({{"run", "nope"}}, "known are digits");
  refused({{"host", "nope"}}, "known are 1 house");
  CHECK_THROWS_WITH_AS(list_workunits(state, {{"state", "valid"}}),
                       doctest::Contains("known are open, validated"), Error);
}

}  // namespace quorate

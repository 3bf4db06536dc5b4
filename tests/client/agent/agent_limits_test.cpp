// The agent where a unit wants more of the machine than the volunteer allows.
#include <algorithm>

#include <doctest/doctest.h>

#include "tests/client/agent/agent_fixture.h"

namespace quorate::test {
namespace {

using client::AgentState;

TEST_CASE(
    "a unit that does not fit disk_mb is given back before it is fetched") {
  AgentFixture fixture;
  fixture.disk_bytes = 100'000;  // the sample's files take more
  fixture.server.add_unit(1);
  AgentState end =
      fixture.run("cpu", [&] { return !fixture.server.failures().empty(); });
  REQUIRE_FALSE(fixture.server.failures().empty());
  CHECK(fixture.server.failures()[0].find("the preference disk_mb allows 1") !=
        std::string::npos);
  CHECK(fixture.server.requests("/v1/objects/") == 1);  // the sealed task
  CHECK_FALSE(fixture.server.has_report(1));
}

TEST_CASE("units that fit disk_mb one after another are all computed") {
  AgentFixture fixture;
  fixture.disk_bytes = 250'000;
  for (ResultId id = 1; id <= 4; ++id) fixture.server.add_unit(id);
  fixture.run("cpu", [&] {
    fixture.server.close_reported();
    return fixture.server.has_report(4);
  });
  CHECK(fixture.server.has_report(1));
  CHECK(fixture.server.failures().empty());
}

TEST_CASE("a unit that computes longer than it may is given up") {
  AgentFixture fixture;
  fixture.longest_unit = Seconds(3600);
  fixture.server.add_unit(1);
  bool has_passed = false;
  fixture.run("slow", [&] {
    const client::Activity now =
        client::read_activity(fixture.folder / "activity.json");
    const bool is_computing =
        !now.tasks.empty() && now.tasks[0].state == "computing";
    if (is_computing && !has_passed) fixture.clock.advance(Seconds(3700));
    has_passed = has_passed || is_computing;
    return !fixture.server.failures().empty();
  });
  REQUIRE(fixture.server.failures().size() == 1);
  CHECK(fixture.server.failures()[0].starts_with(
      "unsupported: took more than the 60 minutes"));
}

TEST_CASE("after a unit that took too long the device is measured anew") {
  AgentFixture fixture;
  fixture.longest_unit = Seconds(3600);
  fixture.server.add_unit(1);
  double speed = 0;  // that is said while the second is computed
  int units = 1;
  const auto add_unit = [&](ResultId id) {
    if (units >= static_cast<int>(id)) return;
    fixture.server.add_unit(id);
    ++units;
  };
  fixture.run("tiring", [&] {
    if (!fixture.server.has_report(1)) return false;
    add_unit(2);
    // Its time counts from when a worker has it.
    const client::Activity now =
        client::read_activity(fixture.folder / "activity.json");
    const bool is_second_computing =
        std::any_of(now.tasks.begin(), now.tasks.end(), [](const auto& task) {
          return task.result == 2 && task.state == "computing";
        });
    if (speed == 0 && is_second_computing) {
      speed = fixture.server.last_speed();
      if (speed > 0) fixture.clock.advance(Seconds(3700));
    }
    if (fixture.server.failures().empty()) return false;
    add_unit(3);  // so that it asks again
    fixture.clock.advance(Seconds(1));
    return fixture.server.last_speed() == 0;
  });
  CHECK(speed > 0);
}

TEST_CASE("a unit too long for the device's speed is not fetched") {
  AgentFixture fixture;
  fixture.server.add_unit(1);
  bool has_second = false;
  fixture.run("cpu", [&] {
    if (!has_second && fixture.server.has_report(1)) {
      fixture.longest_unit = Seconds(0.1);  // the worker said: half a second
      has_second = true;
      fixture.server.add_unit(2);
    }
    return !fixture.server.failures().empty();
  });
  REQUIRE_FALSE(fixture.server.failures().empty());
  CHECK(fixture.server.failures()[0].find(
            "result 2: would take some 0 hours") != std::string::npos);
}

TEST_CASE("of a reported result nothing stays on the disk") {
  AgentFixture fixture;
  fixture.server.add_unit(1);
  AgentState end = fixture.run("cpu", [&] {
    return fixture.server.has_report(1) &&
           !fs::exists(fixture.result_folder(1));
  });
  REQUIRE(end.tasks.size() == 1);  // which the project has not closed
  CHECK(end.tasks[0].state == client::TaskState::reported);

  // nor of one that an older client has left there
  fs::create_directories(fixture.result_folder(1));
  end =
      fixture.run("cpu", [&] { return !fs::exists(fixture.result_folder(1)); });
  CHECK(end.tasks.size() == 1);
}

}  // namespace
}  // namespace quorate::test

// What an agent tells of itself in activity.json.
#include <doctest/doctest.h>

#include "tests/client/agent/agent_fixture.h"

namespace quorate::test {
namespace {

using client::Activity;

struct Watched : AgentFixture {
  Activity seen;

  // True when the activity, kept in `seen`, is such.
  bool shows(const std::function<bool(const Activity&)>& wanted) {
    seen = client::read_activity(folder / "activity.json");
    return wanted(seen);
  }
};

TEST_CASE_FIXTURE(Watched, "an agent without work says that it waits") {
  run("cpu", [&] {
    return shows([](const Activity& now) { return !now.no_work.empty(); });
  });
  CHECK(seen.no_work.find("no work at this project now (asked ") == 0);
  CHECK(seen.trouble.empty());
}

TEST_CASE_FIXTURE(Watched, "a project whose runs are over is said to be so") {
  server.finish();
  run("cpu", [&] {
    return shows([](const Activity& now) {
      return now.no_work.find(
                 "all runs of this project are finished (asked ") == 0;
    });
  });
  CHECK(seen.trouble.empty());
}

TEST_CASE_FIXTURE(Watched, "an agent with work does not") {
  server.add_unit(1);
  int looks = 0;
  run("slow", [&] {
    if (!fs::exists(result_folder(1))) return false;
    clock.advance(Seconds(2));
    return shows([](const Activity& now) { return !now.tasks.empty(); }) &&
           ++looks > 5;
  });
  CHECK(seen.no_work.empty());
}

TEST_CASE_FIXTURE(Watched, "a project that is away is named, with what waits") {
  server.add_unit(1);
  server.set_refuses_reports(true);
  run("cpu", [&] {
    if (server.requests("/v1/results/1") > 1) server.set_reachable(false);
    return shows([](const Activity& now) { return now.is_away; });
  });
  CHECK(seen.trouble.find(" has been out of reach since ") !=
        std::string::npos);
  CHECK(seen.trouble.find("(no route to host); 1 finished result is kept") !=
        std::string::npos);
  CHECK(seen.no_work.empty());
}

TEST_CASE_FIXTURE(Watched, "who is banned says so, and comes back when told") {
  server.set_bans(true);
  std::size_t while_refused = 0;
  int looks = 0;
  run("cpu", [&] {
    if (!shows([](const Activity& now) { return now.is_refused; })) {
      return false;
    }
    clock.advance(Seconds(10));
    if (++looks < 60) return false;
    while_refused = server.requests("/v1/work") +
                    server.requests("/v1/heartbeat") +
                    server.requests("/v1/hosts/me");
    return true;
  });
  CHECK(while_refused <= 2);  // ten minutes of an hour
  CHECK(seen.trouble.find(" refuses this computer (") != std::string::npos);
  CHECK(seen.trouble.find("this host is banned") != std::string::npos);
  CHECK(seen.trouble.find("; asks again ") != std::string::npos);
  CHECK_FALSE(seen.is_away);
  CHECK(seen.no_work.empty());
}

TEST_CASE_FIXTURE(Watched, "who is pardoned is noticed at the next question") {
  server.set_bans(true);
  bool was_refused = false;
  run("cpu", [&] {
    if (shows([](const Activity& now) { return now.is_refused; })) {
      was_refused = true;
      server.set_bans(false);
      clock.advance(Seconds(3600));
    }
    return was_refused &&
           shows([](const Activity& now) { return !now.no_work.empty(); });
  });
  CHECK_FALSE(seen.is_refused);
}

TEST_CASE_FIXTURE(Watched, "what this machine lacks is shown as trouble") {
  // As good as a full disk: nothing can be written there.
  bool is_broken = false;
  run("cpu", [&] {
    if (!is_broken) {
      fs::remove_all(folder / "objects");
      server.add_unit(1);
      is_broken = true;
    }
    return shows([](const Activity& now) { return !now.trouble.empty(); });
  });
  CHECK(seen.trouble.find((folder / "objects").string()) != std::string::npos);
  CHECK_FALSE(seen.is_away);
}

TEST_CASE_FIXTURE(Watched, "who has left has told how far its tasks were") {
  server.add_unit(1);
  run("slow", [&] {
    return shows([](const Activity& now) {
      return !now.tasks.empty() && now.tasks[0].steps > 0;
    });
  });
  Activity left = client::read_activity(folder / "activity.json");
  CHECK(left.pid == 0);
  REQUIRE(left.tasks.size() == 1);
  CHECK(left.tasks[0].steps == seen.tasks[0].steps);
}

}  // namespace
}  // namespace quorate::test

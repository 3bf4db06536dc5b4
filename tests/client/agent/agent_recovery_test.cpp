// The agent when the server, the network or the agent itself goes away.
#include <doctest/doctest.h>

#include "tests/client/agent/agent_fixture.h"

namespace quorate::test {
namespace {

using client::AgentState;
using client::TaskState;

TEST_CASE("a server that is away for a while loses nothing") {
  AgentFixture fixture;
  fixture.server.add_unit(1);
  fixture.server.set_reachable(false);
  fixture.run("cpu", [&] {
    if (fixture.server.requests("/v1/accounts") >= 2) {
      fixture.server.set_reachable(true);
    }
    return fixture.server.has_report(1);
  });
  CHECK(fixture.server.has_report(1));
}

TEST_CASE("a computed result outlives the agent and is not computed again") {
  // given an agent that has uploaded but could not report
  AgentFixture fixture;
  fixture.server.add_unit(1);
  fixture.server.set_refuses_reports(true);
  fixture.run("cpu",
              [&] { return fixture.server.requests("/v1/results/1") >= 2; });
  REQUIRE_FALSE(fixture.server.has_report(1));
  REQUIRE(fs::exists(fixture.result_folder(1) / "header"));

  // when another one starts, whose worker never gets anything done
  fixture.server.set_refuses_reports(false);
  AgentState end =
      fixture.run("slow", [&] { return fixture.server.has_report(1); });

  // then it reports what the first one computed
  CHECK(fixture.server.header(1).device == "cpu");
}

TEST_CASE("an unfinished task is found again after a restart") {
  AgentFixture fixture;
  fixture.server.add_unit(1);
  fixture.run("slow", [&] { return fs::exists(fixture.result_folder(1)); });
  REQUIRE_FALSE(fixture.server.has_report(1));

  fixture.run("cpu", [&] { return fixture.server.has_report(1); });
  CHECK(fixture.server.has_report(1));
}

TEST_CASE("a server that forgot session and upload gets the payload again") {
  AgentFixture fixture;
  fixture.server.add_unit(1);
  fixture.server.set_refuses_reports(true);
  bool is_restarted = false;
  AgentState end = fixture.run("cpu", [&] {
    if (!is_restarted && !fixture.server.uploaded(1).empty()) {
      fixture.server.restart();
      fixture.server.set_refuses_reports(false);
      is_restarted = true;
    }
    return fixture.server.has_report(1);
  });

  CHECK(fixture.server.has_report(1));
  CHECK(end.counters.rejected == 0);
  CHECK_FALSE(fixture.server.uploaded(1).empty());
}

TEST_CASE("after a suspend of days the agent goes on by itself") {
  AgentFixture fixture;
  fixture.server.add_unit(1);
  bool has_slept = false;
  // Meanwhile the lease ran out, the unit was done by others, and the server
  // has forgotten our session.
  auto sleep = [&](const std::function<void()>& pass) {
    pass();
    fixture.server.restart();
    fixture.server.cancel(1);
    fixture.server.add_unit(2);
    has_slept = true;
  };
  auto suspend = [&] { fixture.clock.suspend(Seconds(5 * 86400)); };
  auto set_back = [&] { fixture.clock.suspend(Seconds(-5 * 86400)); };
  auto advance = [&] { fixture.clock.advance(Seconds(5 * 86400)); };
  std::function<void()> pass;
  SUBCASE("as Linux tells time") {
    pass = suspend;
  }
  SUBCASE("all clocks went on") {
    pass = advance;
  }
  SUBCASE("the time of day was set back") {
    pass = set_back;
  }

  AgentState end = fixture.run("slow", [&] {
    if (!has_slept && fs::exists(fixture.result_folder(1))) sleep(pass);
    return fs::exists(fixture.result_folder(2)) &&
           !fs::exists(fixture.result_folder(1));
  });
  CHECK(end.counters.cancelled == 1);
  CHECK(end.counters.failed == 0);
}

TEST_CASE("a result that was computed before a suspend is still reported") {
  AgentFixture fixture;
  fixture.server.add_unit(1);
  fixture.server.set_reachable(true);
  fixture.server.set_refuses_reports(true);
  bool has_slept = false;
  fixture.run("cpu", [&] {
    if (!has_slept && !fixture.server.uploaded(1).empty()) {
      fixture.clock.suspend(Seconds(5 * 86400));
      fixture.server.set_refuses_reports(false);
      has_slept = true;
    }
    return fixture.server.has_report(1);
  });
  CHECK(fixture.server.has_report(1));
}

TEST_CASE("a shard that changed on disk is fetched again") {
  AgentFixture fixture;
  fixture.server.add_unit(1);
  fixture.run("careful", [&] { return fixture.server.has_report(1); });
  int changed = 0;
  for (const auto& file : fs::directory_iterator(fixture.folder / "objects")) {
    if (file.path().extension() != ".shard") continue;
    Bytes bytes = read_file(file.path());
    bytes.back() ^= 1;
    write_file_durably(file.path(), bytes);
    ++changed;
  }
  REQUIRE(changed == 1);

  fixture.server.add_unit(2);
  fixture.run("careful", [&] { return fixture.server.has_report(2); });
  CHECK(fixture.server.has_report(2));
  CHECK(fixture.server.failures().empty());
}

TEST_CASE("a worker that hangs is replaced, and its task done") {
  AgentFixture fixture;
  fixture.worker_silence = Seconds(0.2);
  fixture.server.add_unit(1);
  fixture.run("silent", [&] { return fixture.server.has_report(1); });
  CHECK(fixture.server.has_report(1));
  CHECK(fixture.server.failures().empty());
}

TEST_CASE(
    "a pause holds within a step, and costs only what no checkpoint has") {
  AgentFixture fixture;
  fixture.stop_patience = Seconds(0.2);
  fixture.server.add_unit(1);
  bool was_stopped = false;
  AgentState end = fixture.run("silent", [&] {
    if (fs::exists(fixture.result_folder(1) / "checkpoint")) {
      fixture.is_paused = !was_stopped;
    }
    const client::Activity now =
        client::read_activity(fixture.folder / "activity.json");
    was_stopped = was_stopped || (now.rest == "paused" && !now.tasks.empty() &&
                                  now.tasks[0].state == "ready");
    return fixture.server.has_report(1);
  });
  CHECK(was_stopped);
  CHECK(fixture.server.failures().empty());
  CHECK(end.counters.accepted == 1);
}

TEST_CASE("a cancelled unit ends within a step") {
  AgentFixture fixture;
  fixture.stop_patience = Seconds(0.2);
  fixture.server.add_unit(1);
  bool is_cancelled = false;
  AgentState end = fixture.run("silent", [&] {
    if (fs::exists(fixture.result_folder(1) / "checkpoint") && !is_cancelled) {
      fixture.server.cancel(1);
      is_cancelled = true;
    }
    return is_cancelled && !fs::exists(fixture.result_folder(1));
  });
  CHECK(end.counters.cancelled == 1);
}

TEST_CASE("a damaged state file is set aside, and work goes on") {
  AgentFixture fixture;
  write_file_durably(fixture.folder / "state.json", as_bytes("{\"version\":"));
  fs::create_directories(fixture.result_folder(99));
  fixture.server.add_unit(1);
  fixture.run("cpu", [&] { return fixture.server.has_report(1); });
  CHECK(fs::exists(fixture.folder / "state.json.damaged"));
  CHECK_FALSE(fs::exists(fixture.result_folder(99)));
}

}  // namespace
}  // namespace quorate::test

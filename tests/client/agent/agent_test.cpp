#include <map>

#include <doctest/doctest.h>

#include "base/error.h"
#include "tests/client/agent/agent_fixture.h"

namespace quorate::test {
namespace {

using client::AgentState;
using client::TaskState;

Bytes expected_update(const ResultHeader& header) {
  std::string text = "update of " + header.workunit.hex();
  return Bytes(text.begin(), text.end());
}

TEST_CASE("every unit is computed, uploaded, reported and forgotten") {
  AgentFixture fixture;
  for (ResultId id = 1; id <= 3; ++id) fixture.server.add_unit(id);

  bool is_closing = false;
  AgentState end = fixture.run("cpu", [&] {
    for (ResultId id = 1; id <= 3; ++id) {
      if (!fixture.server.has_report(id)) return false;
    }
    if (!is_closing) fixture.server.close_reported();
    is_closing = true;
    const std::string kept = read_text_file(fixture.folder / "state.json");
    return client::parse_state(kept).tasks.empty();
  });

  CHECK(end.counters.reported == 3);
  CHECK(end.counters.accepted == 3);
  CHECK(end.tasks.empty());
  for (ResultId id = 1; id <= 3; ++id) {
    ResultHeader header = fixture.server.header(id);
    CHECK(fixture.server.is_signed_by(id, fixture.host()));
    CHECK(header.result_id == static_cast<std::uint64_t>(id));
    CHECK(header.nonce == filled<Nonce>(static_cast<std::uint8_t>(id)));
    CHECK(header.device == "cpu");
    Bytes update = fixture.server.uploaded(id);
    CHECK(update == expected_update(header));
    CHECK(header.proof == update_proof(header.nonce, fixture.host(), update,
                                       header.claim.digests));
  }
}

TEST_CASE("the next unit is fetched while the present one is computed") {
  AgentFixture fixture;
  fixture.server.add_unit(1);
  fixture.server.add_unit(2);
  // Snapshot and shard are shared: four objects for two units.
  AgentState end = fixture.run(
      "slow", [&] { return fixture.server.requests("/v1/objects/") == 4; });

  CHECK(end.counters.reported == 0);
  CHECK(end.tasks.size() == 2);
}

TEST_CASE("who asks for work says which shards are here") {
  AgentFixture fixture;
  fixture.server.add_unit(1);
  bool has_second = false;
  fixture.run("cpu", [&] {
    if (!has_second && fixture.server.has_report(1)) {
      fixture.server.add_unit(2);  // answers the question that waits
      has_second = true;
    }
    return !fixture.server.told_shards().empty();
  });

  std::vector<Hash> told = fixture.server.told_shards();
  REQUIRE(told.size() == 1);
  CHECK(fs::exists(fixture.folder / "objects" / (told[0].hex() + ".shard")));
}

TEST_CASE("once: one result is reported, then the agent leaves by itself") {
  AgentFixture fixture;
  fixture.server.add_unit(1);
  fixture.server.add_unit(2);

  AgentState end = fixture.run(
      "cpu", [] { return false; }, true);

  CHECK(end.counters.accepted == 1);
  CHECK(fixture.server.has_report(1));
  CHECK_FALSE(fixture.server.has_report(2));
}

TEST_CASE("once: a rejected result is an error") {
  AgentFixture fixture;
  fixture.server.add_unit(1);
  fixture.server.set_rejects(true);

  CHECK_THROWS_WITH_AS(fixture.run(
                           "cpu", [] { return false; }, true),
                       doctest::Contains("the fake server rejects it"), Error);
}

TEST_CASE("a cancelled result is stopped, and the next one starts") {
  AgentFixture fixture;
  fixture.server.add_unit(1);
  bool is_cancelled = false;
  AgentState end = fixture.run("slow", [&] {
    if (!fs::exists(fixture.result_folder(1)) && !is_cancelled) return false;
    if (!is_cancelled) {
      fixture.server.cancel(1);
      fixture.server.add_unit(2);
      is_cancelled = true;
    }
    return fs::exists(fixture.result_folder(2)) &&
           !fs::exists(fixture.result_folder(1));
  });

  CHECK(end.counters.cancelled == 1);
  REQUIRE(end.tasks.size() == 1);
  CHECK(end.tasks[0].id() == 2);
}

TEST_CASE("a number that means other work now drops the old") {
  // given a result in progress, when the server was restored from a backup
  AgentFixture fixture;
  fixture.server.add_unit(1);
  constexpr std::uint64_t kOther = 7;
  int sent = 0;
  AgentState end = fixture.run("slow", [&] {
    bool is_there = fs::exists(fixture.result_folder(1));
    if (sent == 0 && is_there) {
      fixture.server.add_unit(1, 1, kOther);
      ++sent;
    } else if (sent == 1 && !is_there) {
      fixture.server.add_unit(1, 1, kOther);
      ++sent;
    }
    return sent == 2 && is_there;
  });

  CHECK(end.counters.cancelled == 1);
  REQUIRE(end.tasks.size() == 1);
  CHECK_FALSE(end.tasks[0].is_cancelled);
}

TEST_CASE("pause stops the worker with a checkpoint; resume goes on") {
  AgentFixture fixture;
  fixture.server.add_unit(1);
  fs::path checkpoint = fixture.result_folder(1) / "checkpoint";
  std::size_t beats = 0;
  int quiet_looks = 0;

  AgentState end = fixture.run("slow", [&] {
    if (fs::exists(fixture.result_folder(1))) fixture.is_paused = true;
    if (!fs::exists(checkpoint)) return false;
    // Nobody is to wait for what rests: no heartbeat comes for a second, in
    // which the agent looks four times at what there is to do.
    const std::size_t now = fixture.server.requests("/v1/heartbeat");
    quiet_looks = now == beats ? quiet_looks + 1 : 0;
    beats = now;
    return quiet_looks > 200;
  });
  REQUIRE(end.tasks.size() == 1);
  CHECK(end.tasks[0].state == TaskState::ready);

  fixture.is_paused = false;
  fixture.run("cpu", [&] { return fixture.server.has_report(1); });
  CHECK(fixture.server.has_report(1));
}

TEST_CASE("a paused agent asks for no work") {
  AgentFixture fixture;
  fixture.server.add_unit(1);
  fixture.is_paused = true;
  fs::path activity = fixture.folder / "activity.json";

  int looks = 0;
  fixture.run("cpu", [&] {
    bool is_ready = client::read_activity(activity).devices.size() == 1;
    return is_ready && ++looks > 20;
  });

  CHECK(fixture.server.requests("/v1/work") == 0);
}

TEST_CASE("an agent that finishes reports what it has and asks for no more") {
  AgentFixture fixture;
  fixture.server.add_unit(1);
  fixture.server.finish();  // it lets nobody wait for work
  const fs::path activity = fixture.folder / "activity.json";
  std::size_t asked = 0;
  int looks = 0;
  const AgentState end = fixture.run("cpu", [&] {
    if (fs::exists(fixture.result_folder(1))) fixture.is_finishing = true;
    if (client::read_activity(activity).why.find("finished") ==
        std::string::npos) {
      return false;
    }
    if (++looks == 1) {
      fixture.server.add_unit(2);
      asked = fixture.server.requests("/v1/work");
    }
    return looks > 100;
  });
  CHECK(fixture.server.has_report(1));
  CHECK_FALSE(fixture.server.has_report(2));
  CHECK(end.counters.reported == 1);
  CHECK(fixture.server.requests("/v1/work") == asked);

  fixture.is_finishing = false;
  fixture.run("cpu", [&] { return fixture.server.has_report(2); });
  CHECK(fixture.server.has_report(2));
}

TEST_CASE("what the project says of the results is kept for `status`") {
  AgentFixture fixture;
  fs::path file = fixture.folder / "standing.json";
  fixture.run("cpu", [&] { return client::read_standing(file).asked > 0; });
  client::Standing standing = client::read_standing(file);
  REQUIRE(standing.reply.runs.size() == 1);
  CHECK(standing.reply.runs[0].last_version == 90);
}

TEST_CASE("workers on several devices compute at the same time") {
  AgentFixture fixture;
  constexpr ResultId kUnits = 30;  // more than the fast one may take
  for (ResultId id = 1; id <= kUnits; ++id) fixture.server.add_unit(id);
  auto is_reported_by = [&](const std::string& device) {
    for (ResultId id = 1; id <= kUnits; ++id) {
      if (fixture.server.has_report(id) &&
          fixture.server.header(id).device == device) {
        return true;
      }
    }
    return false;
  };
  // The slow one keeps its result; meanwhile the other has its own.
  std::map<std::string, int> devices;
  AgentState end = fixture.run("slow,cpu", [&] {
    client::Activity now =
        client::read_activity(fixture.folder / "activity.json");
    for (const auto& task : now.tasks) {
      if (task.state == "computing") ++devices[task.device];
    }
    return is_reported_by("cpu") && devices["slow"] > 0;
  });

  CHECK(is_reported_by("cpu"));
  CHECK(devices["slow"] > 0);
  CHECK(end.counters.failed == 0);
}

TEST_CASE("a device with nothing to do goes before another's next result") {
  AgentFixture fixture;
  FakeServer& server = fixture.server;
  ResultId last = 0;
  std::size_t asked = 0;
  // A question for a device that has computed something: for the fast one.
  const auto is_for_fast = [&] { return server.last_speed() > 0; };
  fixture.run("slow,cpu", [&] {
    if (last == 0) {
      const client::Activity now =
          client::read_activity(fixture.folder / "activity.json");
      if (now.devices.size() < 2) return false;
      server.add_unit(++last);  // one for each
      server.add_unit(++last);
    } else if (last == 2 && is_for_fast()) {
      asked = server.questions();
      server.add_unit(++last);
    } else if (last == 3 && is_for_fast() && server.questions() > asked + 1) {
      // Meanwhile the slow one's next result was asked for, and waited.
      server.add_unit(++last);
    }
    return last == 4 && server.has_report(3) && server.has_report(4);
  });

  REQUIRE(last == 4);
  CHECK(server.has_report(4));
  CHECK(server.has_report(1) != server.has_report(2));
}

TEST_CASE("a device that cannot serve leaves its work to the others") {
  AgentFixture fixture;
  for (ResultId id = 1; id <= 3; ++id) fixture.server.add_unit(id);
  client::Activity seen;
  fixture.run("unsupported,cpu", [&] {
    seen = client::read_activity(fixture.folder / "activity.json");
    return fixture.server.has_report(3) && !seen.trouble.empty();
  });
  CHECK(seen.trouble.find("not used: ") == 0);
  CHECK(seen.trouble.ends_with("--device unsupported: no such device"));
  CHECK(seen.devices == std::vector<std::string>{"cpu"});
}

TEST_CASE("without any device that can serve the agent ends") {
  AgentFixture fixture;
  CHECK_THROWS_WITH_AS(
      fixture.run("unsupported,unsupported", [] { return false; }),
      doctest::Contains("no such device"), Error);
}

TEST_CASE("another number of threads replaces the worker, not the task") {
  AgentFixture fixture;
  fixture.server.add_unit(1);
  fs::path checkpoint = fixture.result_folder(1) / "checkpoint";
  bool was_replaced = false;

  AgentState end = fixture.run("slow", [&] {
    client::Activity now =
        client::read_activity(fixture.folder / "activity.json");
    bool is_computing = !now.tasks.empty() && now.tasks[0].state == "computing";
    if (is_computing) fixture.threads = 2;
    was_replaced = is_computing && now.threads == 2 && fs::exists(checkpoint);
    return was_replaced;
  });

  CHECK(was_replaced);
  REQUIRE(end.tasks.size() == 1);
  CHECK(end.counters.failed == 0);
  CHECK(end.tasks[0].attempts == 0);
}

TEST_CASE("leaving stops the worker with a checkpoint") {
  AgentFixture fixture;
  fixture.server.add_unit(1);
  fixture.run("slow", [&] { return fs::exists(fixture.result_folder(1)); });
  CHECK(fs::exists(fixture.result_folder(1) / "checkpoint"));
}

TEST_CASE("a diverged unit is reported without a payload") {
  AgentFixture fixture;
  fixture.server.add_unit(1);
  fixture.run("diverging", [&] { return fixture.server.has_report(1); });

  CHECK(fixture.server.header(1).claim.outcome == ComputeOutcome::diverged);
  CHECK(fixture.server.requests("/v1/results/1/update") == 0);
}

TEST_CASE("a unit that ends each worker is given up, and the next one done") {
  AgentFixture fixture;
  fixture.server.add_unit(1);
  fixture.server.add_unit(2);
  fixture.run("picky", [&] {
    return fixture.server.has_report(2) && !fixture.server.failures().empty();
  });
  CHECK(fixture.server.failures().size() == 1);
  CHECK_FALSE(fixture.server.has_report(1));
}

TEST_CASE("a worker that aborts once costs nobody a unit") {
  AgentFixture fixture;
  fixture.server.add_unit(1);
  fixture.run("fragile", [&] { return fixture.server.has_report(1); });
  CHECK(fixture.server.failures().empty());
}

TEST_CASE("what cannot be computed is told to the project") {
  AgentFixture fixture;
  fixture.server.add_unit(1);
  auto is_told = [&] { return !fixture.server.failures().empty(); };

  SUBCASE("the worker refuses it") {
    fixture.run("refusing", is_told);
    CHECK(fixture.server.failures()[0] == "corrupt: the fake worker refuses");
  }
  SUBCASE("two workers abort under it, in the last one's words") {
    fixture.run("crashing", is_told);
    const std::string told = fixture.server.failures()[0];
    CHECK(told.starts_with("unsupported: 2 workers failed at it, the last "));
    CHECK(told.ends_with("has ended: exit status 1: the fake worker crashes"));
  }
  SUBCASE("an object has other bytes than its hash says") {
    fixture.server.spoil_snapshot();
    fixture.run("cpu", is_told);
    CHECK(fixture.server.failures()[0].find("snapshot") != std::string::npos);
  }
  CHECK_FALSE(fixture.server.has_report(1));
}

TEST_CASE("what a worker still says of a past job is not about its next") {
  AgentFixture fixture;
  fixture.server.add_unit(1);
  fixture.server.add_unit(2);
  AgentState end = fixture.run("late", [&] {
    return fixture.server.has_report(1) && fixture.server.has_report(2);
  });
  CHECK(fixture.server.failures().empty());
  CHECK(end.counters.reported == 2);
}

TEST_CASE("a unit that the project did not seal is not computed") {
  AgentFixture fixture;
  fixture.server.add_unit(1, 9);
  fixture.run("cpu", [&] { return !fixture.server.failures().empty(); });
  CHECK(fixture.server.failures()[0].find("workunit of result 1") !=
        std::string::npos);
  CHECK_FALSE(fixture.server.has_report(1));
}

TEST_CASE("an agent whose device cannot serve says so") {
  AgentFixture fixture;
  CHECK_THROWS_WITH_AS(fixture.run("unsupported", [] { return false; }),
                       doctest::Contains("no such device"), Error);
}

}  // namespace
}  // namespace quorate::test

// What the page is told: bounded, shared for a second, and nothing of a unit
// before its verdict.
#include "server/page/page_data.h"

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "server/making/evaluations.h"
#include "server/page/page_lists.h"
#include "server/page/status.h"
#include "tests/server/project_fixture.h"

namespace quorate {
namespace {

using nlohmann::json;
using test::ProjectFixture;
using test::Volunteer;

constexpr Millis kMinute = 60'000;

json status_of(ProjectFixture& project) {
  PageData data(project.state());
  return json::parse(data.status(data.choose("")));
}

Evaluation evaluation(Millis time, std::uint64_t samples) {
  Evaluation one;
  one.time = time;
  one.samples = samples;
  return one;
}

}  // namespace

TEST_CASE("minutes are counted, kept for a day, and end in a rate") {
  ManualClock clock;
  Activity activity(clock);
  for (int i = 0; i < 6; ++i) activity.count_received();
  activity.count_rejected();
  activity.count_bytes(10, 20);
  CHECK(activity.results_per_minute() == 6);
  clock.advance(Seconds(75));
  activity.count_valid();
  REQUIRE(activity.minutes().size() == 2);
  CHECK(activity.minutes()[0].received == 6);
  CHECK(activity.minutes()[0].rejected == 1);
  CHECK(activity.minutes()[0].bytes_out == 20);
  CHECK(activity.minutes()[1].valid == 1);
  // 15 s into the second minute: three quarters of the first still count.
  CHECK(activity.results_per_minute() == 5);
  CHECK(activity.into_minute().count() == doctest::Approx(15));
  clock.advance(Seconds(3 * 86400));
  CHECK(activity.minutes().size() == Activity::kMinutes);
  CHECK(activity.minutes().front().received == 0);
  CHECK(activity.results_per_minute() == 0);
}

TEST_CASE("only the last closed units are kept, the newest first") {
  ManualClock clock;
  Activity activity(clock);
  CHECK(activity.closed(1).empty());
  for (std::uint64_t i = 0; i < Activity::kClosedUnits + 5; ++i) {
    ClosedUnit unit;
    unit.unit_index = i;
    activity.add_closed(1, unit);
  }
  CHECK(activity.closed(1).size() == Activity::kClosedUnits);
  CHECK(activity.closed(1).front().unit_index == Activity::kClosedUnits + 4);
  CHECK(activity.closed(2).empty());
}

TEST_CASE("the time left follows the pace of the last ten minutes") {
  Run run;
  run.created = 100 * kMinute;
  Millis now = 130 * kMinute;
  auto left = [&](std::vector<Evaluation> known, std::uint64_t samples) {
    return seconds_left(run, known, samples, 0.5, now);
  };
  CHECK_FALSE(left({}, 0));
  // Nothing evaluated yet: since the start.
  CHECK(left({}, 3000).value() == doctest::Approx(1800));
  // Half an hour for the first 2000, ten minutes for the next 1000.
  CHECK(left({evaluation(110 * kMinute, 500), evaluation(120 * kMinute, 2000),
              evaluation(129 * kMinute, 2900)},
             3000)
            .value() == doctest::Approx(1800));
  // A slow run: since its last evaluation, however long ago.
  CHECK(left({evaluation(105 * kMinute, 500)}, 3000).value() ==
        doctest::Approx(1800));
  CHECK_FALSE(left({evaluation(129 * kMinute, 3000)}, 3000));
  run.state = RunState::paused;
  CHECK_FALSE(left({}, 3000));
}

TEST_CASE("what many read at once is made once a second") {
  SharedText text;
  int made = 0;
  auto make = [&] { return std::to_string(++made); };
  Instant start{Seconds(5)};
  CHECK(text.get(start, make) == "1");
  CHECK(text.get(start + Seconds(0.9), make) == "1");
  CHECK(text.get(start + Seconds(1), make) == "2");
}

TEST_CASE("nobody learns who computes a unit before its verdict") {
  ProjectFixture project;
  Volunteer ann = project.join();
  Volunteer bob = project.join();
  Assignment first = project.take(ann);
  Assignment second = project.take(bob);
  project.report(ann, first);

  json units = status_of(project)["run"]["units"];
  CHECK(units["open"] == 1);
  CHECK(units["computing"] == 1);
  CHECK(units["reported"] == 1);
  CHECK(units["closed"].empty());
  REQUIRE(units["oldest"].size() == 1);
  // Whoever holds the unit knows these; anything more is to be weighed.
  json known = units["oldest"][0];
  CHECK(known.size() == 4);
  for (const char* key : {"unit", "base_version", "samples", "created"}) {
    CHECK(known.contains(key));
  }
  json hosts = status_of(project)["hosts"]["rows"];
  for (const json& host : hosts) {
    CHECK_FALSE(host.contains("in_progress"));
    CHECK(host["last_seen"].get<Millis>() % (60 * kMinute) == 0);
  }

  project.report(bob, second);
  units = status_of(project)["run"]["units"];
  CHECK(units["open"] == 0);
  REQUIRE(units["closed"].size() == 1);
  CHECK(units["closed"][0]["state"] == "validated");
  CHECK(units["closed"][0]["replicas"].size() == 2);
  CHECK(units["closed"][0]["replicas"][1]["state"] == "valid");
}

TEST_CASE("the page tells no machine's own name, memory or words") {
  ProjectFixture project;
  Volunteer ann = project.join();
  project.job([&] {
    ProjectState& state = project.state();
    Host& host = *state.hosts.host(ann.host);
    host.name = "anns-laptop";
    host.platform = "linux-x86_64, 8 cores, 15 GiB";
    state.record("host_joined", 0, host.id, "Ann: " + host.platform);
    state.record("host_banned", 0, host.id, "anns-laptop: it cheats");
    state.record("host_trusted", 0, host.id, "an-older-name: she is known");
  });
  Assignment unit = project.take(ann);
  project.give_up(ann, unit.result, "call +1 555 for cheap pills");

  const std::string page = status_of(project).dump();
  for (const char* secret :
       {"anns-laptop", "an-older-name", "15 GiB", "8 cores", "pills"}) {
    CAPTURE(secret);
    CHECK(page.find(secret) == std::string::npos);
  }
  const Host& host = *project.state().hosts.host(ann.host);
  CHECK(page.find(public_name(host) + ": it cheats") != std::string::npos);
  CHECK(page.find("Ann: linux-x86_64\"") != std::string::npos);
  CHECK(page.find(": its host could not compute it") != std::string::npos);
  // The operator sees it all.
  const json shown = status::host(project.state(), host);
  CHECK(shown["name"] == "anns-laptop");
  CHECK(shown["platform"] == "linux-x86_64, 8 cores, 15 GiB");
  const std::string events = status::events(project.state(), {100}).dump();
  CHECK(events.find("pills") != std::string::npos);
}

TEST_CASE("a project is finished when all its runs are over") {
  ProjectFixture project;
  CHECK_FALSE(project.state().is_finished());
  for (RunState over : {RunState::finished, RunState::stopped}) {
    project.run().run.state = over;
    CHECK(project.state().is_finished());
  }
  project.run().run.state = RunState::paused;
  CHECK_FALSE(project.state().is_finished());
}

TEST_CASE("a project with thousands of hosts fits one page") {
  ProjectFixture project;
  project.job([&] {
    for (int i = 0; i < 3000; ++i) {
      PrivateKey key = PrivateKey::generate();
      HostTable& hosts = project.state().hosts;
      hosts.register_user(key.public_key(), "user " + std::to_string(i), 1);
      Host host;
      host.key = key.public_key();
      host.name = "host " + std::to_string(i);
      host.has_chosen_name = true;
      host.door = kNativeDoor;
      Host& added = hosts.register_host(host, key.public_key(), 1);
      hosts.add_credit(added.id, i == 1234 ? 2 : 1, 0, 0);
    }
  });
  json status = status_of(project);
  CHECK(status["hosts"]["total"].get<int>() >= 3000);
  CHECK(status["hosts"]["rows"].size() == 50);
  CHECK(status["hosts"]["rows"][0]["name"] == "host 1234");
  CHECK(status["users"]["total"] == 3000);
  CHECK(status["users"]["rows"].size() == 20);
  CHECK(status["users"]["rows"][0]["name"] == "user 1234");
  CHECK(status["users"]["rows"][0]["hosts"] == 1);
  CHECK(status.dump().size() < 40'000);
}

TEST_CASE("what happens again and again to one host is one event") {
  ProjectFixture project;
  RunKey run = project.run().run.key;
  Volunteer host = project.join();
  project.job([&] {
    project.state().record("run_paused", run, 0, "by the operator");
    for (int i = 0; i < 30; ++i) {
      project.state().record("result_rejected", run, host.host,
                             fmt::format("result {}", i));
    }
    project.state().record("run_paused", run, 0, "by the operator");
  });
  json events = status_of(project)["events"];
  REQUIRE(events.size() >= 3);
  CHECK(events[0]["kind"] == "run_paused");
  CHECK(events[1]["text"] == "result 29");
  CHECK(events[1]["count"] == 30);
  CHECK(events[2]["kind"] == "run_paused");
  CHECK(events[2]["count"] == 1);
  project.job([&] {
    for (int i = 0; i < 30; ++i) {
      project.state().record("run_resumed", run, 0, "by the operator");
    }
  });
  CHECK(status_of(project)["events"].size() == 20);
}

TEST_CASE("the page names files, but not where they lie") {
  using page::without_folders;
  CHECK(without_folders("object /srv/p/objects/ab/abc: missing", "/srv/p") ==
        "object abc: missing");
  CHECK(without_folders("(my/objects/x, \"/etc/y\") 1/2 https://a/b", "my") ==
        "(x, \"y\") 1/2 https://a/b");
  CHECK(without_folders("", "").empty());
  CHECK(without_folders("plain words.", "p") == "plain words.");

  ProjectFixture project;
  project.job([&] {
    Run& run = project.run().run;
    run.state = RunState::paused;
    run.state_reason = "read /srv/secret/abc: missing";
    project.state().record("run_paused", run.key, 0, run.state_reason);
  });
  json status = status_of(project);
  CHECK(status["run"]["reason"] == "read abc: missing");
  CHECK(status.dump().find("secret") == std::string::npos);
  CHECK(PageData(project.state()).runs().find("secret") == std::string::npos);
}

TEST_CASE("a run is chosen by name; else the newest that goes on") {
  ProjectFixture project;
  PageData data(project.state());
  RunKey run = project.run().run.key;
  CHECK(data.choose(project.run().run.name) == run);
  CHECK(data.choose("no such run") == run);
  json curve = json::parse(data.curve(run));
  CHECK(curve["points"].empty());
  for (std::uint64_t version = 1; version <= 1203; ++version) {
    Evaluation one = evaluation(kMinute, version);
    one.version = version;
    keep(project.run().evaluations, one);
  }
  project.clock.advance(Seconds(1));
  curve = json::parse(data.curve(run));
  CHECK(curve["points"].size() <= 500);
  CHECK(curve["points"].back()["version"] == 1203);
}

TEST_CASE("an evaluation takes its place among those of its run") {
  std::vector<Evaluation> all;
  for (std::uint64_t version : {3U, 1U, 2U, 2U}) {
    Evaluation one = evaluation(0, all.size());
    one.version = version;
    keep(all, one);
  }
  REQUIRE(all.size() == 3);
  CHECK(all[0].version == 1);
  CHECK(all[1].samples == 3);
  CHECK(all[2].version == 3);
}

TEST_CASE("metrics name every run") {
  ProjectFixture project;
  PageData data(project.state());
  CHECK(data.metrics().find("quorate_run_version{run=\"" +
                            project.run().run.name + "\"} 0\n") !=
        std::string::npos);
}

}  // namespace quorate

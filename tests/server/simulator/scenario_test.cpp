#include "server/simulator/scenario/scenario.h"

#include <doctest/doctest.h>

#include "base/error.h"

namespace quorate {
namespace {

std::string refusal_of(const std::string& text) {
  try {
    parse_scenario(text, "s.json");
  } catch (const Error& error) {
    CHECK(error.kind() == ErrorKind::usage);
    return error.what();
  }
  return "";
}

// A scenario with these further fields.
std::string with(const std::string& fields) {
  return R"({"run": {"dataset": "glyphs"}, "hosts": [{}])" + fields + "}";
}

std::string with_hosts(const std::string& fields) {
  return R"({"run": {"dataset": "glyphs"}, "hosts": [{)" + fields + "}]}";
}

TEST_CASE("a scenario has its fields, and defaults for the others") {
  const Scenario scenario = parse_scenario(R"({
    "name": "two kinds", "seed": 7, "gradients": "none",
    "run": {"rule": "diloco", "lr": 0.1},
    "run_id": "000102030405060708090a0b0c0d0e0f",
    "server": {"lease": 60, "trust_anchor": false, "name": "A \"project\""},
    "stop": {"after": "1.5 d", "accuracy": 0.9, "results": 500},
    "tick": "100 ms", "record_every": "10 min", "house_gflops": 2,
    "report_time": "5 ms",
    "assimilator": {"prepare": "100 ms", "step": 0.5},
    "hosts": [
      {"name": "laptops", "count": 30, "gflops": {"median": 8, "sigma": 0.4},
       "unit_sigma": 0.3, "on": "8 h", "off": "16 h", "keeps_work": false},
      {"door": "boinc", "workers": 4, "queue": 0, "gflops": 3,
       "down_mbps": 50, "up_mbps": 10, "latency": 0.2, "joins_over": "2 h",
       "preempted": 0.05, "replaced_after": "5 min",
       "replaced_when_missed": true, "fails": 0.01,
       "falsifies": {"share": 0.2, "how": "lazy"}, "price_per_hour": 0.05,
       "hosts_per_user": 10}]})",
                                           "s.json");
  CHECK(scenario.name == "two kinds");
  CHECK(scenario.seed == 7);
  CHECK_FALSE(scenario.has_gradients);
  CHECK(scenario.run["rule"] == "diloco");
  CHECK(scenario.run_id->hex() == "000102030405060708090a0b0c0d0e0f");
  CHECK(scenario.server.lease == Seconds(60));
  CHECK_FALSE(scenario.server.trust_anchor);
  CHECK(scenario.server.name == "A \"project\"");
  CHECK(scenario.duration == Seconds(129'600));
  CHECK(scenario.target_accuracy == 0.9);
  CHECK(scenario.results == 500);
  CHECK(scenario.tick == Seconds(0.1));
  CHECK(scenario.record_every == Seconds(600));
  CHECK(scenario.house_flops == 2e9);
  CHECK(scenario.report_time == Seconds(0.005));
  CHECK(scenario.assimilator.prepare == Seconds(0.1));
  CHECK(scenario.assimilator.step == Seconds(0.5));
  CHECK(scenario.assimilator.write == Seconds(0));
  CHECK(scenario.assimilator.any());
  REQUIRE(scenario.hosts.size() == 2);
  const HostClass& laptops = scenario.hosts[0];
  CHECK(laptops.count == 30);
  CHECK(laptops.speed_flops.median == 8e9);
  CHECK(laptops.speed_flops.sigma == 0.4);
  CHECK(laptops.unit_sigma == 0.3);
  CHECK(laptops.on == Seconds(8 * 3600));
  CHECK(laptops.off == Seconds(16 * 3600));
  CHECK_FALSE(laptops.keeps_work);
  CHECK_FALSE(laptops.is_boinc);
  const HostClass& others = scenario.hosts[1];
  CHECK(others.name == "hosts 2");
  CHECK(others.count == 1);
  CHECK(others.is_boinc);
  CHECK(others.workers == 4);
  CHECK(others.queue == 0);
  CHECK(others.speed_flops.median == 3e9);
  CHECK(others.speed_flops.sigma == 0);
  CHECK(others.down_mbps.median == 50);
  CHECK(others.up_mbps.median == 10);
  CHECK(others.latency == Seconds(0.2));
  CHECK(others.joins_over == Seconds(7200));
  CHECK(others.preempted == 0.05);
  CHECK(others.replaced_after == Seconds(300));
  CHECK(others.replaced_when_missed);
  CHECK(others.fails == 0.01);
  CHECK(others.falsehood == Falsehood::lazy);
  CHECK(others.falsifies == 0.2);
  CHECK(others.price_per_hour == 0.05);
  CHECK(others.hosts_per_user == 10);
}

TEST_CASE("a fault in a scenario is told with its place and what is expected") {
  CHECK(refusal_of("{").starts_with("s.json: "));
  CHECK(refusal_of("{").ends_with("docs/simulator.md explains scenarios"));
  CHECK(refusal_of("{\"run\": " + std::string(100, '[') + "}") != "");
  CHECK(refusal_of("[]") == "s.json: expected an object {...}");
  CHECK(refusal_of("{}") ==
        "s.json: run: expected an object with the flags of `train create`: "
        "{\"dataset\": \"glyphs\", \"rule\": \"diloco\"}");
  CHECK(refusal_of(R"({"run": {}})") ==
        "s.json: hosts: expected at least one kind of hosts, such as "
        "[{\"count\": "
        "8}]");
  CHECK(refusal_of(with(R"(, "sed": 1)"))
            .starts_with("s.json: unknown field \"sed\": the fields are "
                         "gradients, hosts,"));
  CHECK(refusal_of(with(R"(, "seed": -1)")) ==
        "s.json: seed: expected a whole number from 0 to 9007199254740992, "
        "found -1");
  CHECK(refusal_of(with(R"(, "gradients": "some")")) ==
        "s.json: gradients: expected real or none, found \"some\"");
  CHECK(refusal_of(with(R"(, "stop": {"after": "3 weeks"})"))
            .starts_with("s.json: stop: after: expected a number of seconds, "
                         "or a text such as"));
  CHECK(refusal_of(with(R"(, "stop": {"after": -1})")) != "");
  CHECK(refusal_of(with(R"(, "tick": 0)")) ==
        "s.json: tick: expected 1 ms or more, found 0");
  CHECK(refusal_of(with(R"(, "run_id": "00")")) != "");
  CHECK(refusal_of(with(R"(, "server": {"leese": 1})")).find("leese") !=
        std::string::npos);
  CHECK(refusal_of(with(R"(, "server": {"lease": [1]})")) ==
        "s.json: server: lease: expected a number, a text, true or false, "
        "found [1]");
  CHECK(refusal_of(with_hosts(R"("count": 0)")) ==
        "s.json: hosts[0]: count: expected a whole number from 1 to 10000000, "
        "found 0");
  CHECK(refusal_of(with_hosts(R"("gflops": {"sigma": 1})")) ==
        "s.json: hosts[0]: gflops: expected a number, or a median, found "
        "{\"sigma\":1}");
  CHECK(refusal_of(with_hosts(R"("gflops": {"median": 1, "mean": 1})")) ==
        "s.json: hosts[0]: gflops: unknown field \"mean\": the fields are "
        "median, "
        "sigma");
  CHECK(refusal_of(with_hosts(R"("on": "1 h")")) ==
        "s.json: hosts[0]: on, off: give both, or neither for hosts that are "
        "always there");
  CHECK(refusal_of(with_hosts(R"("door": "back")")) ==
        "s.json: hosts[0]: door: expected native or boinc, found \"back\"");
  CHECK(refusal_of(with_hosts(R"("falsifies": {"how": "badly"})")) ==
        "s.json: hosts[0]: falsifies: how: expected noise, sign-flip or lazy, "
        "found \"badly\"");
  CHECK(refusal_of(R"({"run": {}, "hosts": {}})") ==
        "s.json: hosts: expected a list of kinds of hosts, found {}");
}

TEST_CASE("a long faulty value is not repeated whole") {
  const std::string fault =
      refusal_of(with(", \"seed\": \"" + std::string(10'000, 'x') + "\""));
  CHECK(fault.size() < 300);
  const std::string name(10'000, 'y');
  CHECK(refusal_of(with(", \"" + name + "\": 1")).size() < 500);
}

}  // namespace
}  // namespace quorate

#include "server/simulator/simulation.h"

#include <cmath>

#include <doctest/doctest.h>

#include "base/error.h"
#include "server/simulator/report.h"
#include "tests/support/temporary_folder.h"

namespace quorate {
namespace {

using nlohmann::json;

// Units of 100 samples take a host of this speed 60 s.
constexpr double kSamples = 100;

double speed_for(double unit_seconds) {
  const ModelSpec model = parse_model("mlp:1", {1, 1, 1}, 2);
  return training_operations(model) * kSamples / unit_seconds / 1e9;
}

json hosts_of(int count, double unit_seconds = 60) {
  return {{"count", count},
          {"gflops", speed_for(unit_seconds)},
          {"down_mbps", 1e6},
          {"up_mbps", 1e6},
          {"latency", 0}};
}

json scenario_with(json hosts, json others = json::object()) {
  json scenario = {{"gradients", "none"},
                   {"seed", 3},
                   {"stop", {{"after", "2 h"}}},
                   {"run",
                    {{"rule", "vc-asgd"},
                     {"batch", 10},
                     {"local_steps", 10},
                     {"quorum", 1}}},
                   {"server", {{"trust_spot_check", 0}, {"house_workers", 0}}},
                   {"hosts", {std::move(hosts)}}};
  scenario.merge_patch(others);
  return scenario;
}

SimulationOptions options_in(const test::TemporaryFolder& folder) {
  SimulationOptions options;
  options.folder = folder.path() / "project";
  return options;
}

// What it comes to.
json simulate(const json& text) {
  const test::TemporaryFolder folder;
  const Scenario scenario = parse_scenario(text.dump(), "test");
  Simulation simulation(scenario, options_in(folder));
  while (simulation.advance(Seconds(600))) {
  }
  CHECK(simulation.recording().moments.size() > 10);
  return summary_of(scenario, simulation);
}

TEST_CASE("hosts compute for as long as their speed says") {
  const json summary = simulate(scenario_with(hosts_of(10)));
  CHECK(summary["seconds"] == 7200);
  CHECK(summary["state"] == "running");
  // 10 hosts, 2 hours, 60 s a unit.
  CHECK(std::abs(summary["results_assimilated"].get<int>() - 1200) <= 20);
  CHECK(summary["samples"].get<double>() ==
        kSamples * summary["results_assimilated"].get<double>());
  CHECK(summary["utilisation"].get<double>() > 0.98);
  CHECK(summary["results_rejected"] == 0);
  CHECK(summary["refused"] == 0);
}

TEST_CASE("the same seed gives the same, another seed another") {
  json hosts = hosts_of(6);
  hosts.merge_patch({{"unit_sigma", 0.4},
                     {"on", "20 min"},
                     {"off", "10 min"},
                     {"falsifies", {{"share", 0.1}}},
                     {"fails", 0.05}});
  json text = scenario_with(hosts, {{"run", {{"quorum", 2}}}});
  const json first = simulate(text);
  CHECK(simulate(text) == first);
  text["seed"] = 4;
  CHECK(simulate(text) != first);
}

TEST_CASE("a simulation ends with its results, its time or its run") {
  json text = scenario_with(hosts_of(4), {{"stop", {{"results", 50}}}});
  CHECK(simulate(text)["results_assimilated"] == 50);
  text["stop"] = {{"after", "30 min"}};
  CHECK(simulate(text)["seconds"] == 1800);
  // All of one epoch: a million samples, 10,000 to a unit.
  text["stop"] = json::object();
  text["run"]["epochs"] = 1;
  text["run"]["local_steps"] = 1000;
  const json ended = simulate(text);
  CHECK(ended["state"] == "finished");
  CHECK(ended["samples"] == 1'000'000);
}

TEST_CASE("hosts that come and go are there for their share of the time") {
  json hosts = hosts_of(100, 300);
  hosts.merge_patch({{"on", "15 min"}, {"off", "45 min"}});
  // Nobody else gets what they have under way.
  const json text = scenario_with(
      hosts, {{"stop", {{"after", "10 h"}}}, {"server", {{"lease", 36'000}}}});
  const Scenario scenario = parse_scenario(text.dump(), "test");
  const test::TemporaryFolder folder;
  Simulation simulation(scenario, options_in(folder));
  while (simulation.advance(Seconds(3600))) {
  }
  const double share =
      simulation.moment().counters.present.count() / (100 * 36'000.0);
  CHECK(std::abs(share - 0.27) < 0.03);  // all are there at first
  // What they have computed is kept while they are away.
  CHECK(std::abs(static_cast<double>(simulation.moment().assimilated) /
                     (share * 12'000) -
                 1) < 0.05);
}

TEST_CASE("units of machines that are lost go to others") {
  json hosts = hosts_of(20);
  hosts.merge_patch({{"preempted", 0.2}, {"replaced_after", "5 min"}});
  const json summary = simulate(scenario_with(hosts));
  const double lost = summary["machines_lost"];
  const double reports = summary["reports"];
  CHECK(std::abs(lost / (lost + reports) - 0.2) < 0.04);
  CHECK(summary["given_up"].get<double>() >= lost);
  // A unit takes a lost machine half of its time, then 5 min for the next.
  const double expected = 20 * 7200 / (60 + 0.25 * (30 + 300));
  CHECK(std::abs(summary["results_assimilated"].get<double>() / expected - 1) <
        0.1);
}

// Atre et al., "Distributed Deep Learning Using Volunteer Computing-Like
// Paradigm": a unit that is lost costs its slot the time-out.
TEST_CASE("a machine that is replaced when it is missed costs the lease") {
  const double hosts_count = 20, lease = 150, share = 0.2;
  json hosts = hosts_of(20);
  hosts.merge_patch({{"door", "boinc"},
                     {"queue", 0},
                     {"preempted", share},
                     {"replaced_when_missed", true}});
  const json summary =
      simulate(scenario_with(hosts, {{"stop", {{"after", "6 h"}}},
                                     {"server", {{"boinc_lease", lease}}}}));
  const double lost = share / (1 - share);
  const double expected = hosts_count * 21'600 / (60 + lost * lease);
  CHECK(std::abs(summary["results_assimilated"].get<double>() / expected - 1) <
        0.05);
}

TEST_CASE("liars are found where hosts are compared") {
  json liars = hosts_of(3);
  liars["falsifies"] = {{"share", 0.5}, {"how", "lazy"}};
  // Nobody is proven yet, and no house worker vouches for anybody.
  json text = scenario_with(
      hosts_of(12),
      {{"run", {{"quorum", 2}}}, {"server", {{"trust_anchor", false}}}});
  text["hosts"].push_back(liars);
  const json summary = simulate(text);
  CHECK(summary["results_rejected"].get<int>() >= 3);
  CHECK(summary["results_assimilated"].get<int>() > 400);
}

TEST_CASE("a BOINC client's machine speaks to the server once for a unit") {
  json hosts = hosts_of(10);
  hosts["door"] = "boinc";
  const json boinc =
      simulate(scenario_with(hosts, {{"server", {{"boinc_lease", 600}}}}));
  CHECK(std::abs(boinc["results_assimilated"].get<int>() - 1200) <= 20);
  CHECK(std::abs(boinc["requests"].get<double>() /
                     boinc["reports"].get<double>() -
                 1) < 0.05);
  const json native = simulate(scenario_with(hosts_of(10)));
  // It reports, asks, and says every 30 s that it is there.
  CHECK(native["requests"].get<double>() >
        3.5 * native["reports"].get<double>());
}

// In rounds of one unit on the processor and one on a GPU of four times its
// speed: how busy each was.
json busy_in_rounds(const json& local_steps) {
  json cpu = hosts_of(1);
  json gpu = hosts_of(1, 15);
  cpu["name"] = "cpu";
  gpu["name"] = "gpu";
  for (json* kind : {&cpu, &gpu}) (*kind)["queue"] = 0;
  json scenario = scenario_with(cpu);
  scenario["hosts"] = json::array({cpu, gpu});
  scenario["run"].update({{"rule", "local-sgd"},
                          {"local_steps", local_steps},
                          {"round_share", 1},
                          {"round_units", 2}});
  return simulate(scenario)["busy"];
}

TEST_CASE("units by speed keep slow and fast devices busy in rounds") {
  const json equal = busy_in_rounds(10);
  CHECK(equal["cpu"].get<double>() > 0.95);
  CHECK(std::abs(equal["gpu"].get<double>() - 0.25) < 0.02);
  const json balanced = busy_in_rounds("auto");
  CHECK(balanced["cpu"].get<double>() > 0.9);
  CHECK(balanced["gpu"].get<double>() > 0.9);
}

TEST_CASE("hosts that wait for room among open units get a unit at once") {
  json hosts = hosts_of(3);
  hosts["queue"] = 0;
  const auto part_at_work = [&](int workers) {
    hosts["workers"] = workers;
    return simulate(scenario_with(hosts))["utilisation"].get<double>();
  };
  // No more than 24 units may be open.
  CHECK(std::abs(part_at_work(12) - 24.0 / 36) < 0.02);
  CHECK(part_at_work(8) > 0.98);
}

TEST_CASE("transfers take the time of the host's link") {
  json hosts = hosts_of(10, 1);
  hosts["latency"] = 29.5;
  hosts["queue"] = 0;
  // A unit: 29.5 s to load it, 1 s, then the next while this one is reported.
  const json summary = simulate(scenario_with(hosts));
  CHECK(std::abs(summary["results_assimilated"].get<double>() / 2360 - 1) <
        0.02);
  CHECK(std::abs(summary["utilisation"].get<double>() - 1 / 30.5) < 0.001);
}

TEST_CASE("reports wait for the server while it takes others") {
  // 10 hosts want to report every 6 s; it takes a report every 10 s.
  const json summary =
      simulate(scenario_with(hosts_of(10), {{"report_time", 10}}));
  CHECK(std::abs(summary["results_assimilated"].get<int>() - 720) <= 10);
  // With half as many it has time for all.
  const json few = simulate(scenario_with(hosts_of(5), {{"report_time", 10}}));
  CHECK(std::abs(few["results_assimilated"].get<int>() - 600) <= 10);
}

TEST_CASE("what `train create` refuses, a simulation refuses") {
  const test::TemporaryFolder folder;
  const Scenario scenario = parse_scenario(
      scenario_with(hosts_of(1), {{"run", {{"rule", "guess"}}}}).dump(),
      "test");
  CHECK_THROWS_AS(Simulation(scenario, options_in(folder)), Error);
}

// Two runs, of shares 1 and 3, on 16 hosts.
json scenario_of_two(json others = json::object()) {
  json text = scenario_with(hosts_of(16), {{"stop", {{"after", "4 h"}}}});
  json second = text["run"];
  text["run"].merge_patch({{"run", "one"}, {"share", 1}});
  second.merge_patch({{"run", "three"}, {"share", 3}});
  text["more_runs"] = json::array({second});
  text.merge_patch(others);
  return text;
}

// How often the one had what the other had, by what hosts computed.
double ratio(const json& summary, const char* what = "computing_seconds") {
  const json& runs = summary["runs"];
  return runs[1][what].get<double>() / runs[0][what].get<double>();
}

TEST_CASE("runs have hosts' time by their shares, through either door") {
  for (const char* door : {"native", "boinc"}) {
    for (int quorum : {1, 2}) {
      CAPTURE(door);
      CAPTURE(quorum);
      json text = scenario_of_two();
      for (json* run : {&text["run"], &text["more_runs"][0]}) {
        (*run)["quorum"] = quorum;
      }
      text["stop"] = {{"after", "2 h"}};
      text["server"]["trust_anchor"] = false;  // nobody is proven
      text["hosts"][0]["door"] = door;
      text["hosts"][0]["gflops"] = {{"median", speed_for(60)}, {"sigma", 0.5}};
      const json summary = simulate(text);
      CHECK(std::abs(ratio(summary) / 3 - 1) < 0.1);
      CHECK(std::abs(ratio(summary, "host_seconds") / 3 - 1) < 0.1);
      CHECK(summary["utilisation"].get<double>() > 0.95);
      if (quorum == 2) CHECK(simulate(text) == summary);
    }
  }
}

TEST_CASE("a run that pauses for an hour has its share again, and no more") {
  const json pause = {{"at", "1 h"}, {"run", "three"}, {"order", "pause"}};
  const json resume = {{"at", "2 h"}, {"run", "three"}, {"order", "resume"}};
  const json summary = simulate(scenario_of_two({{"orders", {resume, pause}}}));
  // Of 4 hours the one has all of one, and a quarter of the others.
  CHECK(std::abs(ratio(summary) / (2.25 / 1.75) - 1) < 0.1);
  CHECK(summary["runs"][1]["seconds_at_work"].get<double>() ==
        doctest::Approx(3 * 3600).epsilon(0.01));
  CHECK(summary["utilisation"].get<double>() > 0.95);
}

TEST_CASE("a run of share 0 has what the others leave") {
  json text = scenario_of_two();
  text["run"]["share"] = 0;
  const json pause = {{"at", "1 h"}, {"run", "three"}, {"order", "pause"}};
  const json resume = {{"at", "2 h"}, {"run", "three"}, {"order", "resume"}};
  text["orders"] = {pause, resume};
  const json summary = simulate(text);
  CHECK(std::abs(ratio(summary) / 3 - 1) < 0.1);
}

TEST_CASE("rounds of two runs share the hosts") {
  json text = scenario_of_two();
  for (json* run : {&text["run"], &text["more_runs"][0]}) {
    run->merge_patch({{"rule", "diloco"}, {"round_share", 1.0}});
  }
  text["hosts"][0]["queue"] = 0;
  const json summary = simulate(text);
  CHECK(std::abs(ratio(summary) / 3 - 1) < 0.25);
}

TEST_CASE("a run ends after its time, or when it has cost enough") {
  json text = scenario_of_two({{"server", {{"price_cpu", 0.5}}}});
  text["run"]["until"] = {{"time", "30 min"}};
  text["more_runs"][0]["until"] = {{"cost", 10}};
  const json summary = simulate(text);
  const json& runs = summary["runs"];
  CHECK(runs[0]["state"] == "finished");
  CHECK(runs[0]["why"] == "it has been at work for 30min");
  CHECK(runs[0]["seconds_at_work"].get<double>() ==
        doctest::Approx(1800).epsilon(0.01));
  CHECK(runs[1]["state"] == "finished");
  CHECK(runs[1]["cost"].get<double>() == doctest::Approx(10).epsilon(0.01));
  CHECK(runs[1]["host_seconds"].get<double>() ==
        doctest::Approx(20 * 3600).epsilon(0.01));
  // 20 hours of 16 hosts: three quarters of them at first, then all.
  CHECK(summary["seconds"].get<double>() < 6000);
}

TEST_CASE("runs and orders that cannot be are refused") {
  const test::TemporaryFolder folder;
  const json wrong[] = {
      {{"orders", {{{"at", 1}, {"run", "two"}, {"order", "pause"}}}}},
      {{"more_runs", {{{"model", "mlp:2"}}}}}};
  for (const json& others : wrong) {
    const Scenario scenario =
        parse_scenario(scenario_of_two(others).dump(), "test");
    CHECK_THROWS_AS(Simulation(scenario, options_in(folder)), Error);
  }
  const json order = {{"at", 1}, {"run", "one"}, {"order", "wait"}};
  CHECK_THROWS_AS(
      parse_scenario(scenario_of_two({{"orders", {order}}}).dump(), "test"),
      Error);
}

}  // namespace
}  // namespace quorate

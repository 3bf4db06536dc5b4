#include "server/simulator/scenario/scenario.h"

#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "base/error.h"
#include "base/json_fields.h"
#include "server/simulator/scenario/scenario_fields.h"

namespace quorate {
namespace {

using nlohmann::json;

constexpr JsonLimits kLimits{1 << 20, 16};
constexpr std::uint64_t kMostHosts = 10'000'000;
// Where nothing is computed, models are so small that a unit of an hour takes
// next to no speed.
constexpr double kLeastGflops = 1e-15;

const std::map<std::string, Falsehood>& falsehoods() {
  static const std::map<std::string, Falsehood> kAll = {
      {"noise", Falsehood::noise},
      {"sign-flip", Falsehood::sign_flip},
      {"lazy", Falsehood::lazy}};
  return kAll;
}

// A number, or {"median": 5, "sigma": 0.4}.
Spread spread(ScenarioFields& fields, const char* name, Spread otherwise,
              double scale, double least, double most) {
  if (!fields.has(name)) return otherwise;
  const json& value = fields.value(name);
  if (value.is_number()) {
    return {scale * fields.number(name, 0, least, most), 0};
  }
  ScenarioFields inner(value, fields.place_of(name));
  Spread spread{scale * inner.number("median", 0, least, most),
                inner.number("sigma", 0, 0, 5)};
  if (!inner.has("median")) fields.refuse(name, "a number, or a median");
  inner.expect_no_others();
  return spread;
}

void read_faults(ScenarioFields& fields, HostClass& hosts) {
  hosts.preempted = fields.number("preempted", 0, 0, 0.99);
  hosts.replaced_after = fields.duration("replaced_after", Seconds(0));
  hosts.replaced_when_missed =
      fields.flag("replaced_when_missed", hosts.replaced_when_missed);
  hosts.fails = fields.number("fails", 0, 0, 1);
  if (!fields.has("falsifies")) return;
  ScenarioFields inner(fields.value("falsifies"), fields.place_of("falsifies"));
  hosts.falsifies = inner.number("share", 1, 0, 1);
  const std::string how = inner.text("how", "noise");
  const auto known = falsehoods().find(how);
  if (known == falsehoods().end()) {
    inner.refuse("how", "noise, sign-flip or lazy");
  }
  hosts.falsehood = known->second;
  inner.expect_no_others();
}

HostClass read_hosts(const json& value, const std::string& place,
                     std::size_t number) {
  ScenarioFields fields(value, place);
  HostClass hosts;
  hosts.name = fields.text("name", fmt::format("hosts {}", number + 1));
  hosts.count = static_cast<std::uint32_t>(
      fields.count("count", hosts.count, 1, kMostHosts));
  hosts.hosts_per_user = static_cast<std::uint32_t>(
      fields.count("hosts_per_user", hosts.hosts_per_user, 1, kMostHosts));
  const std::string door = fields.text("door", "native");
  if (door != "native" && door != "boinc") {
    fields.refuse("door", "native or boinc");
  }
  hosts.is_boinc = door == "boinc";
  hosts.workers =
      static_cast<std::uint32_t>(fields.count("workers", hosts.workers, 1, 64));
  hosts.queue =
      static_cast<std::uint32_t>(fields.count("queue", hosts.queue, 0, 64));
  hosts.speed_flops =
      spread(fields, "gflops", hosts.speed_flops, 1e9, kLeastGflops, 1e9);
  hosts.unit_sigma = fields.number("unit_sigma", hosts.unit_sigma, 0, 5);
  hosts.down_mbps = spread(fields, "down_mbps", hosts.down_mbps, 1, 1e-6, 1e9);
  hosts.up_mbps = spread(fields, "up_mbps", hosts.up_mbps, 1, 1e-6, 1e9);
  hosts.latency = fields.duration("latency", hosts.latency);
  hosts.joins_over = fields.duration("joins_over", hosts.joins_over);
  hosts.on = fields.duration("on", hosts.on);
  hosts.off = fields.duration("off", hosts.off);
  if ((hosts.on == Seconds(0)) != (hosts.off == Seconds(0))) {
    throw Error(ErrorKind::usage,
                place +
                    ": on, off: give both, or neither for hosts that are "
                    "always there");
  }
  hosts.keeps_work = fields.flag("keeps_work", hosts.keeps_work);
  hosts.price_per_hour = fields.number("price_per_hour", 0, 0, 1e6);
  read_faults(fields, hosts);
  fields.expect_no_others();
  return hosts;
}

// They are quorate.toml's, and the one place that knows them reads TOML; its
// plain values are written as JSON's.
ServerSettings read_settings(const json& value, const std::string& place) {
  std::string toml;
  const ScenarioFields fields(value, place);
  for (const auto& [name, setting] : value.items()) {
    if (setting.is_structured() || setting.is_null()) {
      fields.refuse(name.c_str(), "a number, a text, true or false");
    }
    toml += fmt::format("{} = {}\n", name, setting.dump());
  }
  return parse_settings(toml, place);
}

json read_json(const std::string& text, const std::string& place) {
  try {
    return parse_json(text, kLimits, place);
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::corrupt) throw;
    throw Error(
        ErrorKind::usage,
        fmt::format("{}: docs/simulator.md explains scenarios", error.what()));
  }
}

RunId read_run_id(ScenarioFields& fields) {
  try {
    return parse_hex<RunId>(fields.text("run_id", ""), "run_id");
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::corrupt) throw;
    fields.refuse("run_id", "32 hexadecimal digits");
  }
}

void read_stop(ScenarioFields& fields, Scenario& scenario) {
  if (!fields.has("stop")) return;
  ScenarioFields stop(fields.value("stop"), fields.place_of("stop"));
  scenario.duration = stop.duration("after", scenario.duration);
  if (stop.has("accuracy")) {
    scenario.target_accuracy = stop.number("accuracy", 0, 0, 1);
  }
  scenario.results = stop.count("results", 0, 0, UINT32_MAX);
  stop.expect_no_others();
}

RunOrder read_order(const json& value, const std::string& place) {
  ScenarioFields fields(value, place);
  RunOrder order;
  order.at = fields.duration("at", Seconds(0));
  order.run = fields.text("run", "");
  const std::string what = fields.text("order", "");
  if (what != "pause" && what != "resume") {
    throw Error(ErrorKind::usage,
                fields.place_of("order") + ": expected pause or resume");
  }
  order.pauses = what == "pause";
  fields.expect_no_others();
  return order;
}

// Of a list, each with its place; nothing if the field is not there.
template <class Read>
void read_list(ScenarioFields& fields, const char* name,
               const std::string& expected, Read read) {
  const json& list = fields.value(name);
  if (!list.is_null() && !list.is_array()) fields.refuse(name, expected);
  for (std::size_t i = 0; i < list.size(); ++i) {
    read(list[i], fmt::format("{}[{}]", fields.place_of(name), i));
  }
}

// Runs beside the first, and what their operator does.
void read_runs(ScenarioFields& fields, Scenario& scenario) {
  read_list(
      fields, "more_runs", "a list of runs",
      [&](const json& run, const std::string& at) {
        if (!run.is_object()) {
          throw Error(
              ErrorKind::usage,
              at + ": expected an object with the flags of `train create`");
        }
        scenario.more_runs.push_back(run);
      });
  read_list(fields, "orders", "a list of orders",
            [&](const json& order, const std::string& at) {
              scenario.orders.push_back(read_order(order, at));
            });
  std::stable_sort(
      scenario.orders.begin(), scenario.orders.end(),
      [](const RunOrder& a, const RunOrder& b) { return a.at < b.at; });
}

AssimilatorTimes read_assimilator(ScenarioFields& fields) {
  AssimilatorTimes times;
  if (!fields.has("assimilator")) return times;
  ScenarioFields inner(fields.value("assimilator"),
                       fields.place_of("assimilator"));
  times.prepare = inner.duration("prepare", times.prepare);
  times.read = inner.duration("read", times.read);
  times.step = inner.duration("step", times.step);
  times.write = inner.duration("write", times.write);
  inner.expect_no_others();
  return times;
}

}  // namespace

Scenario parse_scenario(const std::string& text, const std::string& place) {
  const json document = read_json(text, place);
  ScenarioFields fields(document, place);
  Scenario scenario;
  scenario.source = document;
  scenario.name = fields.text("name", "simulation");
  scenario.seed = fields.count("seed", 0, 0, std::uint64_t{1} << 53);
  read_stop(fields, scenario);
  const std::string gradients = fields.text("gradients", "real");
  if (gradients != "real" && gradients != "none") {
    fields.refuse("gradients", "real or none");
  }
  scenario.has_gradients = gradients == "real";
  scenario.run = fields.value("run");
  if (!scenario.run.is_object()) {
    throw Error(ErrorKind::usage,
                fields.place_of("run") +
                    ": expected an object with the flags of `train create`: "
                    "{\"dataset\": \"glyphs\", \"rule\": \"diloco\"}");
  }
  read_runs(fields, scenario);
  if (fields.has("run_id")) {
    scenario.run_id = read_run_id(fields);
  }
  if (fields.has("server")) {
    scenario.server =
        read_settings(fields.value("server"), fields.place_of("server"));
  }
  scenario.house_flops =
      1e9 * fields.number("house_gflops", 5, kLeastGflops, 1e9);
  scenario.assimilator = read_assimilator(fields);
  scenario.tick = fields.duration("tick", scenario.tick);
  if (scenario.tick < Seconds(0.001)) fields.refuse("tick", "1 ms or more");
  scenario.record_every = fields.duration("record_every", Seconds(0));
  scenario.report_time = fields.duration("report_time", Seconds(0));
  read_list(
      fields, "hosts", "a list of kinds of hosts",
      [&](const json& hosts, const std::string& at) {
        scenario.hosts.push_back(read_hosts(hosts, at, scenario.hosts.size()));
      });
  if (fields.has("trace")) {
    scenario.trace = fields.text("trace", "");
  }
  if (scenario.hosts.empty() && !scenario.trace) {
    throw Error(
        ErrorKind::usage,
        fields.place_of("hosts") +
            ": expected at least one kind of hosts, such as [{\"count\": 8}]");
  }
  fields.expect_no_others();
  return scenario;
}

}  // namespace quorate

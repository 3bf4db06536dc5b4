// What is to be simulated, as a person wrote it: a project, its run, and the
// hosts that come to it. docs/simulator.md has every field.
//
// The room server/simulator/scenario is the simulator's input: parsing and
// random draws, no time and no project.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "base/clock.h"
#include "base/file.h"
#include "server/settings/settings.h"
#include "workunits/task.h"

namespace quorate {

// Log-normal: half of the values are below the median, and two thirds within a
// factor exp(sigma) of it.
struct Spread {
  double median = 0;
  double sigma = 0;
};

// What a false result holds instead of the unit's update.
enum class Falsehood {
  none,
  noise,      // a few bits of it are others
  sign_flip,  // the update with the opposite signs
  lazy,       // nothing was computed: all zeros
};

// Hosts of one kind.
struct HostClass {
  std::string name;
  std::uint32_t count = 1;
  std::uint32_t hosts_per_user = 1;
  // Comes through a stock BOINC client: no heartbeats, reports with its next
  // question.
  bool is_boinc = false;
  std::uint32_t workers = 1;   // units that it computes at the same time
  std::uint32_t queue = 1;     // units at hand besides, for each worker
  Spread speed_flops{5e9, 0};  // of a worker
  double unit_sigma = 0;       // of a unit's time around that
  Spread down_mbps{100, 0};
  Spread up_mbps{20, 0};
  Seconds latency{0.05};

  Seconds joins_over{0};  // they come evenly within this time
  // The time that they are there, and away: means of exponential
  // distributions. 0: always there.
  Seconds on{0};
  Seconds off{0};
  // What it computes is kept while it is away: it goes on where it was.
  bool keeps_work = true;
  // The share of units in which the machine is lost, with all that it has, and
  // how long it takes until there is another in its place.
  double preempted = 0;
  Seconds replaced_after{0};
  bool replaced_when_missed = false;  // that time begins when its leases end
  double fails = 0;                   // the share of units that it gives up

  Falsehood falsehood = Falsehood::none;
  double falsifies = 0;  // the share of units

  double price_per_hour = 0;  // while it is there
};

// What the operator does to a run while it goes on.
struct RunOrder {
  Seconds at{0};
  std::string run;
  bool pauses = false;  // else it resumes
};

// How long an assimilator takes for a result: for its files, and then, in
// strong consistency one after the other, for reading the model, the rule's
// step, and writing the model.
struct AssimilatorTimes {
  Seconds prepare{0};
  Seconds read{0};
  Seconds step{0};
  Seconds write{0};

  bool any() const { return prepare + read + step + write > Seconds(0); }
};

struct Scenario {
  nlohmann::json source;  // what all of this was read from
  std::string name;
  std::uint64_t seed = 0;
  // It ends with the run, or at the first of these.
  Seconds duration{0};  // 0: with the run
  std::optional<double> target_accuracy;
  std::uint64_t results = 0;  // assimilated ones; 0: any number

  // Computed for real, on workers of this machine; else every update is zero.
  bool has_gradients = true;
  nlohmann::json run;  // as of `train create`, its flags by name
  // Further runs beside that one, in the same way.
  std::vector<nlohmann::json> more_runs;
  std::vector<RunOrder> orders;  // by time
  // Units of the first run follow from it: for the same ones as of another run.
  std::optional<RunId> run_id;
  ServerSettings server;
  double house_flops = 5e9;
  // That the server takes for a report, one after another.
  Seconds report_time{0};
  AssimilatorTimes assimilator;  // all 0: results are merged in no time
  // How often the server looks at its clock; see Transitioner::tick().
  Seconds tick{1};
  Seconds record_every{0};  // of the timeline; 0: some hundred times in all
  std::vector<HostClass> hosts;
  // Who asks and who reports in which order, instead of hosts that decide for
  // themselves: see trace.h.
  std::optional<fs::path> trace;
};

// place: for messages, the file's name. Throws usage, naming the field.
Scenario parse_scenario(const std::string& text, const std::string& place);

}  // namespace quorate

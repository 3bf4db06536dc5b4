// A project, its run and its hosts on a virtual clock, from the first host to
// the end of the run. The same scenario with the same seed gives the same bits.
//
// The room server/simulator puts simulated machines around the server's own
// daemons (SimulatedProject). It owns a project of its own, in a new folder and
// mostly in memory, and with gradients some worker processes; all decisions
// happen on the caller's thread. It may include everything but the commands.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>

#include "server/simulator/machines.h"
#include "server/simulator/recording.h"
#include "server/simulator/simulated_assimilators.h"
#include "server/simulator/simulated_house.h"
#include "server/simulator/trace.h"

namespace quorate {

struct SimulationOptions {
  fs::path project;   // whose data sets it uses; not used without gradients
  fs::path folder;    // of the simulated project, made anew
  bool keep = false;  // store and objects, so that `quorate` can look at them
  std::uint32_t workers = 1;
  protocol::WorkerOptions worker{};  // not used without gradients
};

class Simulation {
 public:
  // Throws usage for a run that `train create` would refuse.
  Simulation(const Scenario& scenario, const SimulationOptions& options);
  ~Simulation();

  // Some of it, until the virtual clock has gone on by `time`; false once it is
  // over.
  bool advance(Seconds time);

  Seconds now() const { return now_; }
  const Recording& recording() const { return recording_; }
  // Right now.
  Moment moment() { return moment_of(run()); }
  // The tables are of the first run.
  const TrainingRun& run() { return state().runs.begin()->second; }
  // See Machines; none where a trace says what hosts do.
  std::map<std::string, double> busy() const { return machines_->busy(); }
  // When the target accuracy was reached, if it was.
  std::optional<PublishedScore> target() const;
  SimulatedProject& project() { return *project_; }
  const Machines& machines() const { return *machines_; }
  const SimulatedAssimilators& assimilators() const { return *assimilators_; }

 private:
  // A version that is being evaluated.
  struct Evaluating {
    RunKey run = 0;
    Hash published;
    Moment moment;
  };

  Moment moment_of(const TrainingRun& training);
  ProjectState& state() { return project_->state(); }
  void create_runs();
  void create_run(nlohmann::json wishes, std::size_t number);
  void expect_same_updates();
  void bring_dataset(const fs::path& project, const std::string& name);
  void make_dataset();
  void step();
  Seconds next_time() const;
  void move_to(Seconds time);
  void set_clock();
  void look_at_versions();
  void finish_evaluation();
  void store_evaluation(const Evaluating& of, double loss, double accuracy);
  void do_orders();
  bool has_order_before(Seconds time) const;
  void record_until(Seconds time);
  void thin_out();
  bool is_over();
  bool has_reached_target() const;

  Scenario scenario_;
  SimulationOptions options_;
  Counters counters_;
  Recording recording_;
  EventQueue events_;
  Instant start_{};  // of the project's clock
  Seconds now_{0};   // since then
  Seconds next_tick_{0};
  Seconds next_record_{0};
  Seconds record_every_{0};
  std::map<RunKey, std::uint64_t> seen_version_;
  std::optional<Evaluating> evaluating_;
  std::size_t next_order_ = 0;
  bool is_finished_ = false;
  std::unique_ptr<SimulatedProject> project_;
  std::unique_ptr<SimulatedAssimilators> assimilators_;
  std::unique_ptr<Gradients> gradients_;
  std::unique_ptr<HostReports> reports_;
  std::unique_ptr<SimulatedHouse> house_;
  std::unique_ptr<Machines> machines_;
  std::unique_ptr<TracePlayer> trace_;
};

}  // namespace quorate

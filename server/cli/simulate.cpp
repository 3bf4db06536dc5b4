// simulate: a project with many hosts on a virtual clock.
#include <algorithm>
#include <thread>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/text.h"
#include "server/cli/commands.h"
#include "server/cli/support/interrupt.h"
#include "server/cli/support/progress_line.h"
#include "server/simulator/report.h"
#include "server/simulator/simulation.h"

namespace quorate {
namespace {

using nlohmann::json;

constexpr std::uint64_t kMostScenarioBytes = 1 << 20;

struct Options {
  std::string scenario;
  std::string out;
  std::uint32_t workers = 0;
  std::optional<std::uint64_t> seed;
  std::string device = "cpu";
  bool keep = false;
  bool force = false;
};

Scenario read_scenario(const Options& options) {
  const fs::path path = options.scenario;
  Scenario scenario =
      parse_scenario(read_text_file(path, kMostScenarioBytes), path.string());
  if (options.seed) scenario.seed = *options.seed;
  if (scenario.trace && scenario.trace->is_relative()) {
    scenario.trace = path.parent_path() / *scenario.trace;
  }
  return scenario;
}

// Where the results go: made, or empty, or to be replaced.
fs::path results_folder(const Options& options) {
  fs::path folder = options.out;
  if (folder.empty()) folder = fs::path(options.scenario).stem();
  if (fs::exists(folder) && !fs::is_empty(folder) && !options.force) {
    throw Error(
        ErrorKind::usage,
        fmt::format("simulate: {} exists already: choose another folder with "
                    "--out, or replace this one with --force",
                    folder.string()));
  }
  fs::create_directories(folder);
  return folder;
}

// The simulated project's folder; it goes at the end unless it is to be kept.
class ProjectPlace {
 public:
  ProjectPlace(const fs::path& results, bool keep)
      : path_(results / "project"), keep_(keep) {
    fs::remove_all(path_);
  }
  ~ProjectPlace() {
    std::error_code ignored;
    if (!keep_) fs::remove_all(path_, ignored);
  }
  ProjectPlace(const ProjectPlace&) = delete;
  ProjectPlace& operator=(const ProjectPlace&) = delete;
  const fs::path& path() const { return path_; }

 private:
  fs::path path_;
  bool keep_;
};

std::string progress_of(const Scenario& scenario, Simulation& simulation) {
  const Moment moment = simulation.moment();
  const auto& scores = simulation.recording().scores;
  const std::string accuracy =
      scores.empty()
          ? ""
          : fmt::format(", accuracy {:.1f} %", 100 * scores.back().accuracy);
  return fmt::format("{}: {:.2f} h, {} hosts, {} results{}", scenario.name,
                     moment.time.count() / 3600, moment.hosts,
                     moment.assimilated, accuracy);
}

// Some steps at a time, so that a terminal sees how far it is.
void run_to_end(const Scenario& scenario, Simulation& simulation) {
  constexpr Seconds kAtOnce{60};
  constexpr Seconds kShowEvery{0.5};
  ProgressLine line;
  const Interrupt interrupt;
  const SystemClock clock;
  Instant shown = clock.now();
  while (simulation.advance(kAtOnce)) {
    if (interrupt.is_requested()) return;  // what there is gets written
    if (clock.now() - shown < kShowEvery) continue;
    shown = clock.now();
    line.write(progress_of(scenario, simulation));
  }
}

void simulate(const Options& options, const GlobalOptions& global) {
  const Scenario scenario = read_scenario(options);
  const fs::path results = results_folder(options);
  const ProjectPlace place(results, options.keep);
  SimulationOptions how;
  how.project = global.folder;
  how.folder = place.path();
  how.keep = options.keep;
  how.workers = options.workers;
  if (how.workers == 0) {
    how.workers = std::max(1U, std::thread::hardware_concurrency());
  }
  if (scenario.has_gradients) {
    how.worker.program = protocol::find_worker_program();
    how.worker.device = options.device;
  }
  const SystemClock clock;
  const Instant start = clock.now();
  Simulation simulation(scenario, how);
  run_to_end(scenario, simulation);
  json summary = summary_of(scenario, simulation);
  write_results(results, scenario, simulation.recording(), summary);
  summary["wall_seconds"] = (clock.now() - start).count();
  summary["results"] = results.string();
  say("{}\n", global.json ? summary.dump() : text_of(summary));
}

}  // namespace

void add_simulate(CLI::App& app, GlobalOptions& global) {
  auto options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand(
      "simulate", "Run a project with many hosts on a virtual clock");
  command
      ->add_option("SCENARIO", options->scenario,
                   "JSON file; docs/simulator.md explains its fields. The data "
                   "sets are those of the project that -C names")
      ->required()
      ->check(CLI::ExistingFile);
  command->add_option("--out", options->out,
                      "Folder for the tables and the report "
                      "[the scenario's name]");
  command->add_option("--seed", options->seed,
                      "Use this seed instead of the scenario's");
  command
      ->add_option("--workers", options->workers,
                   "Processes that compute gradients [all processors]")
      ->check(CLI::Range(1, 256));
  command->add_option("--device", options->device, "What they compute on")
      ->capture_default_str();
  command->add_flag("--keep", options->keep,
                    "Keep the simulated project for commands such as `quorate "
                    "-C OUT/project replay`");
  command->add_flag("--force", options->force, "Replace what is in the folder");
  command->add_flag("--json", global.json, "Machine-readable output");
  command->footer(
      "Example:\n"
      "  quorate -C my-project simulate laptops.json --out laptops\n");
  command->callback([options, &global] { simulate(*options, global); });
}

}  // namespace quorate

#include "server/simulator/simulation.h"

#include <utility>

#include "base/error.h"
#include "server/orders/create_run.h"

namespace quorate {
namespace {

// Whose draws they are that are no host's.
constexpr std::uint32_t kServer = UINT32_MAX;
constexpr std::uint32_t kRun = UINT32_MAX - 1;

// A run that does not end by itself is left alone after that.
constexpr Seconds kLongest{365.0 * 86400};
// Of the timeline: with more, every other goes, and they are taken half as
// often.
constexpr std::size_t kMostMoments = 400;

// Data of nothing, for hosts that compute nothing: an epoch of a million
// samples of one value.
constexpr std::uint32_t kShards = 100;
constexpr std::uint32_t kSamplesOfShard = 10'000;
constexpr const char* kNoData = "none";

constexpr std::uint64_t kMostTraceBytes = 1 << 28;

std::unique_ptr<Store> store_for(const SimulationOptions& options,
                                 bool has_gradients,
                                 const ProjectFolder& folder) {
  if (options.keep) return open_sqlite_store(folder.database());
  if (has_gradients) return open_memory_store();
  // Nobody will look at what is over.
  MemoryStoreOptions bounds;
  bounds.closed_units = bounds.events = 0;
  bounds.ledger_records = 1;
  return open_memory_store(bounds);
}

// With what `quorate` needs to open it, if it is to be kept.
ProjectFolder new_folder(const SimulationOptions& options,
                         const Scenario& scenario) {
  ProjectFolder folder{options.folder};
  make_project_folders(folder);
  if (!options.keep) return folder;
  const ProjectKeys keys = simulated_keys(scenario.seed);
  keys.project.save(folder.project_key().string());
  keys.house.save(folder.house_key().string());
  write_file_durably(folder.settings(),
                     as_bytes(settings_template(scenario.server)));
  return folder;
}

RunId run_id_of(const Scenario& scenario) {
  if (scenario.run_id) return *scenario.run_id;
  RunId id;
  Draws draws(scenario.seed, kRun);
  for (std::uint8_t& byte : id.bytes) {
    byte = static_cast<std::uint8_t>(draws.word());
  }
  return id;
}

}  // namespace

Simulation::Simulation(const Scenario& scenario,
                       const SimulationOptions& options)
    : scenario_(scenario), options_(options) {
  if (scenario_.duration == Seconds(0)) scenario_.duration = kLongest;
  record_every_ = scenario_.record_every != Seconds(0) ? scenario_.record_every
                                                       : scenario_.tick;
  const ProjectFolder folder = new_folder(options, scenario_);
  project_ = std::make_unique<SimulatedProject>(
      folder, scenario_.server, simulated_keys(scenario_.seed),
      store_for(options, scenario_.has_gradients, folder),
      [draws = Draws(scenario_.seed, kServer)]() mutable {
        return draws.word();
      });
  start_ = project_->clock().now();
  if (scenario_.has_gradients) {
    project_->revise();
  } else {
    state().notary = no_notary();
  }
  create_run();
  gradients_ = scenario_.has_gradients
                   ? real_gradients(state(), options.workers, options.worker)
                   : no_gradients(state());
  reports_ = std::make_unique<HostReports>(*project_, *gradients_,
                                           scenario_.has_gradients);
  house_ = std::make_unique<SimulatedHouse>(*project_, *gradients_, *reports_,
                                            scenario_.house_flops);
  machines_ = std::make_unique<Machines>(scenario_, *project_, *gradients_,
                                         *reports_, events_, counters_);
  if (scenario_.trace) {
    const std::string place = scenario_.trace->string();
    trace_ = std::make_unique<TracePlayer>(
        parse_trace(read_text_file(place, kMostTraceBytes), place), *project_,
        *gradients_, *reports_, counters_, scenario_.seed);
  }
}

Simulation::~Simulation() = default;

void Simulation::create_run() {
  nlohmann::json wishes = scenario_.run;
  if (!wishes.contains("run")) wishes["run"] = "simulated";
  if (scenario_.has_gradients) {
    bring_dataset(options_.project, wishes.value("dataset", ""));
  } else {
    make_dataset();
    wishes["dataset"] = kNoData;
    if (!wishes.contains("model")) wishes["model"] = "mlp:1";
  }
  project_->job([&] {
    quorate::create_run(state(), project_->daemons(), wishes,
                        run_id_of(scenario_));
  });
}

void Simulation::bring_dataset(const fs::path& project,
                               const std::string& name) {
  const ProjectFolder from{project};
  const DatasetManifest dataset = load_manifest(from, name);
  const ObjectReader objects(from.objects());
  for (const auto* part : {&dataset.train, &dataset.test}) {
    for (const ShardEntry& shard : *part) {
      project_->objects().put(objects.read(shard.hash));
    }
  }
  write_file_durably(project_->folder().manifest(name),
                     as_bytes(to_json(dataset)));
}

void Simulation::make_dataset() {
  DatasetManifest dataset;
  dataset.name = kNoData;
  dataset.kind = "glyphs";
  dataset.shape = {1, 1, 1};
  dataset.classes = 2;
  for (std::uint32_t i = 0; i < kShards; ++i) {
    const std::string bytes = "shard " + std::to_string(i);
    dataset.train.push_back(
        {project_->objects().put(as_bytes(bytes)), kSamplesOfShard});
  }
  dataset.test.push_back({project_->objects().put(as_bytes("test")), 1});
  dataset.class_counts.assign(2, std::uint64_t{kShards} * kSamplesOfShard / 2);
  write_file_durably(project_->folder().manifest(kNoData),
                     as_bytes(to_json(dataset)));
}

bool Simulation::advance(Seconds time) {
  const Seconds end = now_ + time;
  while (!is_finished_ && now_ < end) {
    step();
    if (!is_over()) continue;
    finish_evaluation();
    machines_->look(now_);
    recording_.moments.push_back(moment());
    is_finished_ = true;
  }
  return !is_finished_;
}

void Simulation::step() {
  const bool is_traced =
      trace_ && !trace_->is_empty() &&
      (events_.is_empty() || trace_->next_time() <= events_.next_time());
  const Seconds time = is_traced            ? trace_->next_time()
                       : events_.is_empty() ? scenario_.duration
                                            : events_.next_time();
  if (time >= scenario_.duration) return move_to(scenario_.duration);
  move_to(time);
  if (is_traced) {
    trace_->happen();
  } else {
    machines_->happen(events_.take());
  }
  machines_->take_answers(now_);
  look_at_versions();
}

// The server looks at its clock meanwhile, as often as it does.
void Simulation::move_to(Seconds time) {
  while (next_tick_ <= time) {
    record_until(next_tick_);
    now_ = next_tick_;
    project_->clock().set(start_ + now_);
    project_->tick();
    house_->tick(now_);
    machines_->take_answers(now_);
    look_at_versions();
    next_tick_ += scenario_.tick;
  }
  record_until(time);
  now_ = time;
  project_->clock().set(start_ + now_);
}

void Simulation::record_until(Seconds time) {
  while (next_record_ < time) {
    machines_->look(next_record_);
    recording_.moments.push_back(moment());
    recording_.moments.back().time = next_record_;
    next_record_ += record_every_;
    if (scenario_.record_every == Seconds(0)) thin_out();
  }
}

// A run may take seconds or months: nobody knows before.
void Simulation::thin_out() {
  std::vector<Moment>& moments = recording_.moments;
  if (moments.size() < kMostMoments) return;
  for (std::size_t i = 0; 2 * i < moments.size(); ++i) {
    moments[i] = moments[2 * i];
  }
  moments.resize((moments.size() + 1) / 2);
  record_every_ *= 2;
  next_record_ = moments.back().time + record_every_;
}

Moment Simulation::moment() {
  const RunTotals totals = project_->store().totals(run().run.key);
  return {now_,
          machines_->there(),
          run().model.version(),
          totals.results_assimilated,
          totals.samples,
          state().feeder.units_in(run().run.key, WorkunitState::open).size(),
          counters_};
}

void Simulation::look_at_versions() {
  if (run().published_version == seen_version_) return;
  seen_version_ = run().published_version;
  finish_evaluation();
  gradients_->begin_evaluation(run(), run().published_hash);
  machines_->look(now_);
  evaluating_ = moment();
  evaluating_->version = seen_version_;
}

// Waits for what was ordered with the last version: meanwhile others computed.
void Simulation::finish_evaluation() {
  if (!evaluating_) return;
  const Moment then = *std::exchange(evaluating_, std::nullopt);
  const auto done = gradients_->evaluation();
  if (!done) return;
  const double accuracy =
      static_cast<double>(done->correct) / static_cast<double>(done->samples);
  recording_.scores.push_back({then, done->loss, accuracy});
}

bool Simulation::has_reached_target() const {
  return scenario_.target_accuracy && !recording_.scores.empty() &&
         recording_.scores.back().accuracy >= *scenario_.target_accuracy;
}

std::optional<PublishedScore> Simulation::target() const {
  if (!has_reached_target()) return std::nullopt;
  return recording_.scores.back();
}

bool Simulation::is_over() {
  if (run().run.state != RunState::running) return true;
  if (now_ >= scenario_.duration || has_reached_target()) return true;
  if (trace_ && trace_->is_empty() && events_.is_empty()) return true;
  return scenario_.results != 0 &&
         project_->store().totals(run().run.key).results_assimilated >=
             scenario_.results;
}

}  // namespace quorate

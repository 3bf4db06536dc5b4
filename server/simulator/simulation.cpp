#include "server/simulator/simulation.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "base/error.h"
#include "server/making/evaluations.h"
#include "server/orders/runs/create_run.h"
#include "server/orders/runs/move_run.h"

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

RunId run_id_of(const Scenario& scenario, std::size_t number) {
  if (scenario.run_id && number == 0) return *scenario.run_id;
  RunId id;
  Draws draws(scenario.seed, kRun - static_cast<std::uint32_t>(number));
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
  create_runs();
  assimilators_ =
      std::make_unique<SimulatedAssimilators>(scenario_.assimilator, *project_);
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

void Simulation::create_runs() {
  if (!scenario_.has_gradients) make_dataset();
  create_run(scenario_.run, 0);
  for (std::size_t i = 0; i < scenario_.more_runs.size(); ++i) {
    create_run(scenario_.more_runs[i], i + 1);
  }
  if (!scenario_.has_gradients) expect_same_updates();
  for (const RunOrder& order : scenario_.orders) {
    if (state().run_by_name(order.run) != nullptr) continue;
    throw Error(ErrorKind::usage,
                fmt::format("orders: there is no run \"{}\"", order.run));
  }
}

void Simulation::create_run(nlohmann::json wishes, std::size_t number) {
  if (!wishes.contains("run")) {
    wishes["run"] =
        number == 0 ? "simulated" : fmt::format("simulated-{}", number + 1);
  }
  if (scenario_.has_gradients) {
    bring_dataset(options_.project, wishes.value("dataset", ""));
  } else {
    wishes["dataset"] = kNoData;
    if (!wishes.contains("model")) wishes["model"] = "mlp:1";
  }
  project_->job([&] {
    quorate::create_run(state(), project_->daemons(), wishes,
                        run_id_of(scenario_, number));
  });
}

// Where nothing is computed, all have one update.
void Simulation::expect_same_updates() {
  const Run& first = run().run;
  for (const auto& [key, other] : state().runs) {
    if (other.run.codec == first.codec &&
        to_json(other.run.model) == to_json(first.model)) {
      continue;
    }
    throw Error(ErrorKind::usage,
                fmt::format("more_runs: run {}: without gradients all runs "
                            "have one model and codec",
                            other.run.name));
  }
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

// Of whatever happens next: the traced, the assimilators, the machines.
Seconds Simulation::next_time() const {
  Seconds time = scenario_.duration;
  if (!events_.is_empty()) time = std::min(time, events_.next_time());
  if (!assimilators_->is_idle()) {
    time = std::min(time, assimilators_->next_time());
  }
  if (trace_ && !trace_->is_empty()) time = std::min(time, trace_->next_time());
  return time;
}

void Simulation::step() {
  const Seconds time = next_time();
  if (has_order_before(time)) {
    move_to(scenario_.orders[next_order_].at);
    do_orders();
    return machines_->take_answers(now_);
  }
  move_to(time);
  if (time >= scenario_.duration) return;
  if (trace_ && !trace_->is_empty() && trace_->next_time() <= time) {
    trace_->happen();
  } else if (!assimilators_->is_idle() && assimilators_->next_time() <= time) {
    assimilators_->happen(time);
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
    set_clock();
    project_->tick();
    house_->tick(now_);
    machines_->take_answers(now_);
    look_at_versions();
    next_tick_ += scenario_.tick;
  }
  record_until(time);
  now_ = time;
  set_clock();
}

void Simulation::set_clock() {
  project_->clock().set(start_ + now_);
  assimilators_->move_to(now_);
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

Moment Simulation::moment_of(const TrainingRun& training) {
  const RunKey key = training.run.key;
  const RunTotals totals = project_->store().totals(key);
  return {now_,
          machines_->there(),
          training.model.version(),
          totals.results_assimilated,
          totals.samples,
          state().feeder.units_in(key, WorkunitState::open).size(),
          counters_};
}

void Simulation::look_at_versions() {
  for (auto& [key, training] : state().runs) {
    if (training.published_version == seen_version_[key]) continue;
    finish_evaluation();
    seen_version_[key] = training.published_version;
    gradients_->begin_evaluation(training, training.published_hash);
    machines_->look(now_);
    evaluating_ = {key, training.published_hash, moment_of(training)};
    evaluating_->moment.version = training.published_version;
  }
}

// Waits for what was ordered with the last version: meanwhile others computed.
void Simulation::finish_evaluation() {
  if (!evaluating_) return;
  const Evaluating then = *std::exchange(evaluating_, std::nullopt);
  const auto done = gradients_->evaluation();
  if (!done) return;
  const double accuracy =
      static_cast<double>(done->correct) / static_cast<double>(done->samples);
  if (then.run == run().run.key) {
    recording_.scores.push_back({then.moment, done->loss, accuracy});
  }
  store_evaluation(then, done->loss, accuracy);
}

// The server knows it from now on: a run may end for it.
void Simulation::store_evaluation(const Evaluating& of, double loss,
                                  double accuracy) {
  if (state().run(of.run).run.until.accuracy == 0) return;
  project_->job([&] {
    Evaluation evaluation;
    evaluation.run = of.run;
    evaluation.version = of.moment.version;
    evaluation.published = of.published;
    evaluation.time = state().clock.unix_ms();
    evaluation.samples = of.moment.samples;
    evaluation.loss = loss;
    evaluation.accuracy = accuracy;
    project_->store().insert_evaluation(evaluation);
    keep(state().run(of.run).evaluations, evaluation);
  });
}

void Simulation::do_orders() {
  const std::vector<RunOrder>& orders = scenario_.orders;
  for (; next_order_ < orders.size() && orders[next_order_].at <= now_;
       ++next_order_) {
    const RunOrder& order = orders[next_order_];
    TrainingRun& training = *state().run_by_name(order.run);
    const RunState from = order.pauses ? RunState::running : RunState::paused;
    const RunState to = order.pauses ? RunState::paused : RunState::running;
    if (!training.is_active()) continue;
    project_->job(
        [&] { move_run(state(), project_->daemons(), training, from, to); });
  }
}

bool Simulation::has_reached_target() const {
  return scenario_.target_accuracy && !recording_.scores.empty() &&
         recording_.scores.back().accuracy >= *scenario_.target_accuracy;
}

std::optional<PublishedScore> Simulation::target() const {
  if (!has_reached_target()) return std::nullopt;
  return recording_.scores.back();
}

bool Simulation::has_order_before(Seconds time) const {
  return next_order_ < scenario_.orders.size() &&
         scenario_.orders[next_order_].at < time;
}

bool Simulation::is_over() {
  const bool is_anything_on = std::any_of(
      state().runs.begin(), state().runs.end(),
      [](const auto& e) { return e.second.run.state == RunState::running; });
  if (!is_anything_on && !has_order_before(scenario_.duration)) return true;
  if (now_ >= scenario_.duration || has_reached_target()) return true;
  if (trace_ && trace_->is_empty() && events_.is_empty() &&
      assimilators_->is_idle()) {
    return true;
  }
  return scenario_.results != 0 &&
         project_->store().totals(run().run.key).results_assimilated >=
             scenario_.results;
}

}  // namespace quorate

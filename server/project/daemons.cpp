#include "server/project/daemons.h"

#include <fmt/format.h>

#include "base/error.h"
#include "base/log.h"
#include "server/house/compute_request.h"
#include "server/making/evaluations.h"
#include "server/units/sealed_tasks.h"

namespace quorate {
namespace {

// How late a lease or a waiting host may be noticed.
constexpr Seconds kTick{0.1};

void remove_files(const protocol::ComputeRequest& request) {
  for (const std::string& path :
       {request.workunit, request.update, request.checkpoint}) {
    std::error_code ignored;  // the next start removes what is left
    fs::remove(path, ignored);
  }
}

}  // namespace

Daemons::Daemons(ProjectState& state, Writer& writer, Uploads& uploads,
                 const Roles& roles)
    : maker(state),
      scheduler(state, maker, writer),
      verdicts(state),
      transitioner(state, scheduler, verdicts),
      assimilator(
          state, scheduler, transitioner, writer,
          [this](const EvaluationOrder& order) { order_evaluation(order); }),
      reports(state, uploads, verdicts, transitioner),
      reviser(state, writer, assimilator,
              [this](Job job) { post(std::move(job)); }),
      file_deleter(state, writer, uploads),
      gossip(state, [this](Job job) { post(std::move(job)); }),
      state_(state),
      writer_(writer),
      roles_(roles),
      step_threads_([this](Job job) { post(std::move(job)); }) {
  transitioner.set_validating(roles.validator);
  state_.roles = roles;
  state_.heard_until = [&writer] { return writer.heard_until(); };
  writer_.run([this] { make_house_host(); });
}

void Daemons::make_house_host() {
  if (const Host* known =
          state_.hosts.host_by_key(state_.keys.house.public_key())) {
    state_.house_host = known->id;
  } else {
    Host host;
    host.key = state_.keys.house.public_key();
    host.name = "house";
    host.door = kHouseDoor;
    host.platform = "this server";
    state_.house_host =
        state_.hosts.register_house_host(host, state_.clock.unix_ms()).id;
  }
  // What a house worker had when the server stopped is lost.
  for (ResultId id : state_.feeder.in_progress(state_.house_host)) {
    state_.leases.grant(id, state_.clock.now(), Seconds(0));
  }
}

// Volunteers take no unit that a revoked key sealed.
void Daemons::close_revoked_units() {
  const Keyring& ring = state_.keys.ring;
  std::vector<WorkunitId> revoked;
  for (const auto& [id, live] : state_.feeder.units()) {
    const auto sealed = state_.store.sealed_task(live.unit.object);
    if (sealed && sealer_of(*sealed, ring, "workunit").is_revoked) {
      revoked.push_back(id);
    }
  }
  for (const WorkunitId id : revoked) {
    transitioner.close(id, Closing::by_operator);
  }
  if (!revoked.empty()) {
    log_warning("units_of_revoked_key", {{"cancelled", revoked.size()}});
  }
}

void Daemons::start() {
  if (state_.settings.house_workers > 0) {
    HouseCallbacks callbacks;
    callbacks.next_unit = [this] { return next_house_unit(); };
    callbacks.computed = [this](const HouseUnit& unit,
                                const protocol::ComputeDone& done,
                                const std::string& device) {
      house_computed(unit, done, device);
    };
    callbacks.failed = [this](const HouseUnit& unit,
                              const HouseFailure& failure) {
      house_failed(unit, failure);
    };
    // On the writer's thread, which orders evaluations from it.
    writer_.run([&] {
      house_ = std::make_unique<HouseWorkers>(
          state_.settings.house_workers, house_worker_options(state_.settings),
          std::move(callbacks));
    });
  }
  if (roles_.validator && roles_.assimilator) reviser.start();
  file_deleter.start();
  if (roles_.assimilator) gossip.start();
  post([this] {
    state_.is_served = true;
    if (roles_.assimilator) assimilator.set_helpers(&step_threads_);
    if (roles_.validator) {
      close_revoked_units();
      transitioner.look_at_all();
    }
    assimilator.resume_evaluations();
    tick();
  });
}

void Daemons::stop() {
  reviser.stop();
  step_threads_.stop();
  file_deleter.stop();
  gossip.stop();
  if (house_) house_->stop();
}

void Daemons::post(Job job) {
  writer_.post([this, job = std::move(job)]() mutable {
    job();
    settle();
  });
}

void Daemons::settle() {
  transitioner.settle();
  if (roles_.assimilator) assimilator.pass_all();
  transitioner.settle();
  reviser.pass();
  file_deleter.pass();
  gossip.pass();
  if (roles_.scheduler) scheduler.serve_waiting();
  state_.trust.flush();
  state_.hosts.flush();
}

void Daemons::tick() {
  transitioner.tick();
  scheduler.tick();
  settle();
  writer_.post_at(state_.clock.now() + kTick, [this] { tick(); });
}

void Daemons::order_evaluation(const EvaluationOrder& order) {
  if (!house_ || !roles_.evaluator) return;
  const TrainingRun& training = state_.run(order.run);
  protocol::EvaluateRequest request;
  request.job = ++house_jobs_;
  request.model = to_json(training.run.model);
  request.parameters = state_.objects.path(order.published).string();
  for (const ShardEntry& shard : training.dataset.test) {
    request.shards.push_back(state_.objects.path(shard.hash).string());
  }
  house_->evaluate(
      order.run, std::move(request),
      [this, order](const protocol::EvaluateDone& done) {
        post([this, order, done] { store_evaluation(order, done); });
      });
}

void Daemons::store_evaluation(const EvaluationOrder& order,
                               const protocol::EvaluateDone& done) {
  Evaluation evaluation;
  evaluation.run = order.run;
  evaluation.version = order.version;
  evaluation.published = order.published;
  evaluation.time = state_.clock.unix_ms();
  evaluation.samples = order.samples;
  evaluation.loss = done.loss;
  evaluation.accuracy =
      static_cast<double>(done.correct) / static_cast<double>(done.samples);
  state_.store.insert_evaluation(evaluation);
  keep(state_.run(order.run).evaluations, evaluation);
  log_info("evaluated", {{"run", order.run},
                         {"version", order.version},
                         {"accuracy", evaluation.accuracy},
                         {"loss", evaluation.loss}});
}

std::optional<HouseUnit> Daemons::next_house_unit() {
  std::optional<Assignment> assignment;
  std::uint64_t job = 0;
  writer_.run([&] {
    assignment = scheduler.work_for_house();
    if (assignment) job = ++house_jobs_;
  });
  if (!assignment) return std::nullopt;
  HouseUnit unit;
  unit.result = assignment->result;
  try {
    const Hash& object = assignment->objects.at(0).hash;
    Bytes sealed;
    writer_.run(
        [&] { sealed = sealed_task_of(state_.store, state_.objects, object); });
    unit.request = compute_request(state_.objects, state_.keys, sealed, object);
    unit.request.job = job;
  } catch (const std::exception& error) {
    house_failed(unit, {error.what()});
    throw;
  }
  return unit;
}

void Daemons::house_failed(const HouseUnit& unit, const HouseFailure& failure) {
  remove_files(unit.request);
  post([this, result = unit.result, failure] {
    if (failure.has_aborted) {
      transitioner.on_house_aborted(result, failure.why);
    } else {
      transitioner.on_failed(state_.house_host, result, failure.why);
    }
  });
}

void Daemons::house_computed(const HouseUnit& unit,
                             const protocol::ComputeDone& done,
                             const std::string& device) {
  std::optional<OpenResult> open = state_.open_results.find(unit.result);
  if (!open) return remove_files(unit.request);
  Bytes update;
  if (done.claim.outcome == ComputeOutcome::success) {
    update = read_file(unit.request.update);
    state_.objects.adopt(unit.request.update, done.claim.update);
    open->uploaded = done.claim.update;
    open->uploaded_bytes = update.size();
  }
  remove_files(unit.request);
  ScreenedReport report = reports.screen(
      *open, sign_claim(header_of(*open, device), done.claim, update,
                        state_.keys.id, state_.keys.house));
  post([this, result = unit.result, device, report = std::move(report)] {
    Host& house = *state_.hosts.host(state_.house_host);
    if (house.device != device) {
      house.device = device;
      state_.hosts.changed(house.id);
    }
    state_.hosts.touch(house, state_.clock.now(), state_.clock.unix_ms());
    reports.store(state_.house_host, result, report);
  });
}

}  // namespace quorate

#include "server/house/house_workers.h"

#include <algorithm>

#include "base/error.h"
#include "base/log.h"
#include "base/retry.h"

namespace quorate {
namespace {

constexpr Seconds kIdle{0.1};
constexpr int kEvaluationTries = 3;
constexpr int kNiceness = 5;  // they yield to what else runs on the server

}  // namespace

protocol::WorkerOptions house_worker_options(const ServerSettings& settings) {
  protocol::WorkerOptions options;
  options.program = protocol::find_worker_program();
  options.threads = settings.house_threads;
  options.device = settings.house_device;
  options.niceness = kNiceness;
  return options;
}

HouseWorkers::HouseWorkers(std::uint32_t count,
                           const protocol::WorkerOptions& options,
                           HouseCallbacks callbacks)
    : options_(options), callbacks_(std::move(callbacks)) {
  for (std::uint32_t i = 0; i < count; ++i) {
    threads_.emplace_back([this] { loop(); });
  }
}

HouseWorkers::~HouseWorkers() {
  stop();
}

void HouseWorkers::stop() {
  {
    std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  wake_.notify_all();
  for (std::thread& thread : threads_) thread.join();
  threads_.clear();
}

void HouseWorkers::evaluate(std::int64_t group,
                            protocol::EvaluateRequest request, Evaluated done) {
  {
    std::lock_guard lock(mutex_);
    std::erase_if(evaluations_,
                  [group](const Evaluation& e) { return e.group == group; });
    evaluations_.push_back({group, std::move(request), std::move(done)});
  }
  wake_.notify_one();
}

void HouseWorkers::loop() {
  std::optional<protocol::WorkerProcess> worker;
  std::uint32_t failures = 0;
  while (!stopping_) {
    try {
      if (!worker) worker.emplace(options_);
      if (!run_one(*worker)) wait_for_work();
      failures = 0;
    } catch (const std::exception& failure) {
      worker.reset();
      ++failures;
      log_error("house worker failed",
                {{"why", failure.what()}, {"failures", failures}});
      pause(retry_delay(failures, 0));
    }
  }
}

bool HouseWorkers::run_one(protocol::WorkerProcess& worker) {
  if (std::optional<Evaluation> evaluation = take_evaluation()) {
    run_evaluation(worker, std::move(*evaluation));
    return true;
  }
  std::optional<HouseUnit> unit = callbacks_.next_unit();
  if (!unit) return false;
  run_unit(worker, *unit);
  return true;
}

std::optional<HouseWorkers::Evaluation> HouseWorkers::take_evaluation() {
  std::lock_guard lock(mutex_);
  if (evaluations_.empty()) return std::nullopt;
  Evaluation next = std::move(evaluations_.front());
  evaluations_.pop_front();
  return next;
}

void HouseWorkers::run_evaluation(protocol::WorkerProcess& worker,
                                  Evaluation evaluation) {
  std::string why;
  try {
    worker.send(evaluation.request);
    std::optional<protocol::WorkerReply> reply = outcome(worker);
    if (!reply) return;
    if (const auto* done = std::get_if<protocol::EvaluateDone>(&*reply)) {
      evaluation.done(*done);
      return;
    }
    const auto* failed = std::get_if<protocol::WorkerFailed>(&*reply);
    why = failed ? failed->why : "the worker sent an unexpected answer";
  } catch (const Error& error) {
    why = error.what();
  }
  ++evaluation.failures;
  log_error("evaluation failed",
            {{"why", why}, {"failures", evaluation.failures}});
  if (evaluation.failures < kEvaluationTries) {
    std::lock_guard lock(mutex_);
    evaluations_.push_back(std::move(evaluation));
  }
  throw Error(ErrorKind::unavailable, "evaluation: " + why);
}

void HouseWorkers::run_unit(protocol::WorkerProcess& worker,
                            const HouseUnit& unit) {
  try {
    worker.send(unit.request);
    std::optional<protocol::WorkerReply> reply = outcome(worker);
    if (!reply) return;
    if (const auto* done = std::get_if<protocol::ComputeDone>(&*reply)) {
      callbacks_.computed(unit, *done, worker.ready().device);
      return;
    }
    const auto* failed = std::get_if<protocol::WorkerFailed>(&*reply);
    callbacks_.failed(unit, {failed ? failed->why : "no result"});
  } catch (const Error& error) {
    callbacks_.failed(unit, {error.what(), worker.has_aborted()});
    throw;
  }
}

std::optional<protocol::WorkerReply> HouseWorkers::outcome(
    protocol::WorkerProcess& worker) {
  SystemClock clock;
  Instant heard = clock.now();
  while (!stopping_) {
    std::optional<protocol::WorkerReply> reply = worker.receive(Seconds(0.5));
    if (reply && !std::holds_alternative<protocol::WorkerProgress>(*reply)) {
      return reply;
    }
    if (reply) heard = clock.now();
    if (clock.now() - heard > options_.silence) throw hang_of(options_);
  }
  return std::nullopt;
}

void HouseWorkers::wait_for_work() {
  std::unique_lock lock(mutex_);
  wake_.wait_for(lock, kIdle,
                 [this] { return stopping_.load() || !evaluations_.empty(); });
}

void HouseWorkers::pause(Seconds time) {
  std::unique_lock lock(mutex_);
  wake_.wait_for(lock, time, [this] { return stopping_.load(); });
}

}  // namespace quorate

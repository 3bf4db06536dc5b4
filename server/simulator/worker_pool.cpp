#include "server/simulator/worker_pool.h"

#include "base/error.h"
#include "base/log.h"

namespace quorate {
namespace {

constexpr int kTries = 3;

}  // namespace

WorkerPool::WorkerPool(std::uint32_t workers,
                       const protocol::WorkerOptions& options)
    : options_(options) {
  for (std::uint32_t i = 0; i < workers; ++i) {
    threads_.emplace_back([this](const std::stop_token& stop) { loop(stop); });
  }
}

WorkerPool::~WorkerPool() {
  for (std::jthread& thread : threads_) thread.request_stop();
  threads_.clear();
}

WorkerPool::Job WorkerPool::run(protocol::WorkerRequest request, Seconds due) {
  std::lock_guard lock(mutex_);
  const JobId id = ++last_id_;
  if (auto* unit = std::get_if<protocol::ComputeRequest>(&request)) {
    unit->job = id;
  } else if (auto* version = std::get_if<protocol::EvaluateRequest>(&request)) {
    version->job = id;
  }
  Waiting waiting{std::move(request), {}};
  Reply reply = waiting.promise.get_future().share();
  jobs_.emplace(std::pair(due, id), std::move(waiting));
  due_.emplace(id, due);
  wake_.notify_one();
  return {id, std::move(reply)};
}

void WorkerPool::drop(JobId id) {
  std::lock_guard lock(mutex_);
  auto waits = due_.find(id);
  if (waits == due_.end()) return;
  jobs_.erase({waits->second, id});
  due_.erase(waits);
}

void WorkerPool::loop(const std::stop_token& stop) {
  std::unique_ptr<protocol::WorkerProcess> worker;
  while (true) {
    Waiting job;
    {
      std::unique_lock lock(mutex_);
      if (!wake_.wait(lock, stop, [this] { return !jobs_.empty(); })) return;
      auto first = jobs_.begin();
      due_.erase(first->first.second);
      job = std::move(first->second);
      jobs_.erase(first);
    }
    try {
      job.promise.set_value(compute(job.request, worker, stop));
    } catch (...) {
      job.promise.set_exception(std::current_exception());
    }
  }
}

protocol::WorkerReply WorkerPool::compute(
    const protocol::WorkerRequest& request,
    std::unique_ptr<protocol::WorkerProcess>& worker,
    const std::stop_token& stop) const {
  for (int tries = 1;; ++tries) {
    try {
      if (!worker) {
        worker = std::make_unique<protocol::WorkerProcess>(options_, stop);
      }
      worker->send(request);
      return answer_of(*worker, stop);
    } catch (const Error& error) {
      worker.reset();
      if (tries == kTries || stop.stop_requested()) throw;
      log_error("worker_failed", {{"why", error.what()}, {"tries", tries}});
    }
  }
}

protocol::WorkerReply WorkerPool::answer_of(protocol::WorkerProcess& worker,
                                            const std::stop_token& stop) const {
  const SystemClock clock;
  Instant heard = clock.now();
  while (!stop.stop_requested()) {
    std::optional<protocol::WorkerReply> reply = worker.receive(Seconds(0.5));
    if (reply && !std::holds_alternative<protocol::WorkerProgress>(*reply)) {
      return *reply;
    }
    if (reply) heard = clock.now();
    if (clock.now() - heard > options_.silence) {
      throw protocol::hang_of(options_);
    }
  }
  throw Error(ErrorKind::unavailable, "the simulation ends");
}

}  // namespace quorate

#include "client/worker/serve.h"

#include <algorithm>
#include <exception>
#include <functional>
#include <new>
#include <thread>

#include "base/arithmetic.h"
#include "base/error.h"
#include "base/file.h"
#include "client/worker/checks/self_test.h"
#include "client/worker/units/job.h"
#include "client/worker/units/pace.h"
#include "workunits/device_text.h"

namespace quorate::worker {
namespace {

using protocol::WorkerFailed;
using protocol::WorkerReply;

std::uint64_t job_of(const protocol::WorkerRequest& request) {
  if (const auto* compute = std::get_if<protocol::ComputeRequest>(&request)) {
    return compute->job;
  }
  const auto* evaluate = std::get_if<protocol::EvaluateRequest>(&request);
  return evaluate == nullptr ? 0 : evaluate->job;
}

WorkerFailed failure(std::uint64_t job, const Error& error) {
  return {job, std::string(name_of(error.kind())), error.what()};
}

// A job as this server runs it: stops when the inbox says so, rests as the
// owner asked.
class PacedJob final : public Job {
 public:
  using Report = std::function<void(std::uint32_t step, std::uint32_t steps)>;

  PacedJob(const Clock& clock, std::uint32_t cpu_percent, const Inbox& inbox,
           std::uint64_t number, Report report)
      : pace_(clock, cpu_percent),
        inbox_(inbox),
        number_(number),
        report_(std::move(report)) {}

  void step_done(std::uint32_t step, std::uint32_t steps) override {
    if (pace_.is_progress_due()) report_(step, steps);
    rest(pace_.rest_due());
  }
  bool should_stop() override { return inbox_.is_stopped(number_); }
  bool is_checkpoint_due() override { return pace_.is_checkpoint_due(); }

 private:
  // In slices, so that a stop need not wait for a long rest to end.
  void rest(Seconds left) {
    constexpr Seconds kSlice{0.1};
    if (left <= Seconds(0)) return;
    while (left > Seconds(0) && !should_stop()) {
      std::this_thread::sleep_for(std::min(left, kSlice));
      left -= kSlice;
    }
    pace_.resume();
  }

  Pace pace_;
  const Inbox& inbox_;
  std::uint64_t number_;
  Report report_;
};

}  // namespace

WorkerServer::WorkerServer(std::unique_ptr<Backend> backend,
                           const ServeOptions& options, const Clock& clock,
                           int input, int output)
    : options_(options),
      clock_(clock),
      output_(output),
      backend_(std::move(backend)),
      runner_(*backend_, clock),
      inbox_(input) {}

void WorkerServer::run() {
  require_exact(*backend_);
  const DeviceInfo device = backend_->device();
  say(protocol::WorkerReady{
      device_text(device.name, device.model, device.driver), kArithmeticVersion,
      options_.confine ? options_.confine() : ""});
  while (std::optional<Received> received = inbox_.next()) answer(*received);
}

void WorkerServer::answer(const Received& received) {
  if (!received.request) {
    say(failure(0, Error(ErrorKind::corrupt, received.error)));
    return;
  }
  std::uint64_t job = job_of(*received.request);
  if (inbox_.is_stopped(received.number)) {
    say(protocol::WorkerStopped{job});
    return;
  }
  try {
    say(work_on(*received.request, received.number));
  } catch (const Error& error) {
    // A device that has failed for good is no reason to refuse the task: the
    // worker ends, and the task goes to the one that is started next.
    if (error.kind() == ErrorKind::io) require_primitives(*backend_);
    say(failure(job, error));
  } catch (const std::bad_alloc&) {
    say(failure(job, Error(ErrorKind::unsupported,
                           "the task needs more memory than computing may use "
                           "here: see the preference memory_mb")));
  } catch (const std::exception& error) {  // file system
    say(failure(job, Error(ErrorKind::io, error.what())));
  }
}

WorkerReply WorkerServer::work_on(const protocol::WorkerRequest& request,
                                  std::uint64_t number) {
  std::uint64_t id = job_of(request);
  PacedJob job(clock_, options_.cpu_percent, inbox_, number,
               [this, id](std::uint32_t step, std::uint32_t steps) {
                 say(protocol::WorkerProgress{id, step, steps});
               });
  if (const auto* compute = std::get_if<protocol::ComputeRequest>(&request)) {
    return runner_.compute(*compute, job);
  }
  return runner_.evaluate(std::get<protocol::EvaluateRequest>(request), job);
}

void WorkerServer::say(const WorkerReply& reply) {
  write_all(output_, as_bytes(protocol::write(reply) + "\n"), "the replies");
}

}  // namespace quorate::worker

// Worker processes that the operator trusts: they evaluate published versions,
// break ties, and compute when no volunteer is there. One thread drives each.
//
// The room server/house owns these processes and their threads; the daemons own
// it. It knows neither store nor state: it asks for units through callbacks,
// which post to the writer, and talks to a worker in protocol/worker. It may
// include settings and what a compute request names.
#pragma once

#include <atomic>
#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "protocol/worker/worker_process.h"
#include "server/settings/settings.h"
#include "workunits/workunit.h"

namespace quorate {

// A workunit for a house worker; paths of its files are in the request.
struct HouseUnit {
  ResultId result = 0;
  protocol::ComputeRequest request;
};

// Why a unit could not be computed.
struct HouseFailure {
  std::string why;
  bool has_aborted = false;  // the worker, by itself: the unit may be why
};

// What the workers ask and tell; called on their threads, and may block (they
// wait for the writer). What next_unit throws makes the worker start anew after
// a pause.
struct HouseCallbacks {
  // The next unit, or nullopt if there is none now.
  std::function<std::optional<HouseUnit>()> next_unit;
  // One of these two for every unit, unless the workers are stopped before.
  std::function<void(const HouseUnit&, const protocol::ComputeDone&,
                     const std::string& device)>
      computed;
  std::function<void(const HouseUnit&, const HouseFailure&)> failed;
};

// How the server starts those that it trusts, also for rechecks.
protocol::WorkerOptions house_worker_options(const ServerSettings& settings);

// A worker that fails, or is silent for too long, is killed and started anew,
// after a pause that doubles from one failure to the next.
class HouseWorkers {
 public:
  HouseWorkers(std::uint32_t count, const protocol::WorkerOptions& options,
               HouseCallbacks callbacks);
  ~HouseWorkers();
  // Ends the workers within a second or so; what is asked of them afterwards is
  // not done. For the thread that made them.
  void stop();

  using Evaluated = std::function<void(const protocol::EvaluateDone&)>;
  // Any thread; `done` is called on a worker's. Evaluates before any unit; of
  // several evaluations waiting for the same `group` only the newest is done.
  // One that failed three times is dropped: whoever wants it asks again.
  void evaluate(std::int64_t group, protocol::EvaluateRequest request,
                Evaluated done);

 private:
  struct Evaluation {
    std::int64_t group;
    protocol::EvaluateRequest request;
    Evaluated done;
    int failures = 0;
  };

  void loop();
  bool run_one(protocol::WorkerProcess& worker);
  // Throws unavailable when it failed, so that the worker starts anew.
  void run_evaluation(protocol::WorkerProcess& worker, Evaluation evaluation);
  void run_unit(protocol::WorkerProcess& worker, const HouseUnit& unit);
  std::optional<Evaluation> take_evaluation();
  // The job's last message; nullopt when the workers are to stop.
  std::optional<protocol::WorkerReply> outcome(protocol::WorkerProcess& worker);
  void wait_for_work();
  void pause(Seconds time);

  protocol::WorkerOptions options_;
  HouseCallbacks callbacks_;
  std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<Evaluation> evaluations_;
  std::atomic<bool> stopping_{false};
  std::vector<std::thread> threads_;
};

}  // namespace quorate

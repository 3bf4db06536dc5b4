// A sealed unit, its snapshot and its shard as files in a folder, as a client
// has them before it starts a worker.
#pragma once

#include <optional>
#include <string>

#include "client/worker/units/job.h"
#include "protocol/worker/messages.h"
#include "tests/support/temporary_folder.h"
#include "workunits/task.h"

namespace quorate::worker {

struct UnitSize {
  std::uint32_t hidden = 16;
  std::uint32_t samples = 256;  // of the shard
  std::uint32_t steps = 12;
  std::uint32_t batch = 4;
  float learning_rate = 0.05F;
};

class UnitFiles {
 public:
  explicit UnitFiles(const UnitSize& size = {});

  const TrainingTask& task() const { return task_; }
  fs::path folder() const { return folder_.path(); }
  // Seals `task` anew, with this project's key, in place of the unit.
  void seal_task(const TrainingTask& task);
  // A request to compute the unit; the update goes to `name`.
  protocol::ComputeRequest request(std::uint64_t job,
                                   const std::string& name = "update") const;
  // Evaluates the snapshot on the shard, `times` times.
  protocol::EvaluateRequest evaluation(std::uint64_t job, int times = 1) const;

 private:
  test::TemporaryFolder folder_;
  TrainingTask task_;
};

// A job of a test: stops before step `stop_at`, saves before every step.
class ScriptedJob final : public Job {
 public:
  explicit ScriptedJob(std::optional<std::uint32_t> stop_at = std::nullopt)
      : stop_at_(stop_at) {}

  void step_done(std::uint32_t step, std::uint32_t /*steps*/) override {
    last_step = step;
    ++calls;
  }
  bool should_stop() override { return stop_at_ && calls >= *stop_at_; }
  bool is_checkpoint_due() override { return checkpoints; }

  std::uint32_t last_step = 0;
  std::uint32_t calls = 0;
  bool checkpoints = false;

 private:
  std::optional<std::uint32_t> stop_at_;
};

}  // namespace quorate::worker

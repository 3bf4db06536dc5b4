// Computes a workunit: TrainingTask, snapshot and shard in; claim and update
// out. The result depends on nothing else, neither the device nor the number
// of threads (docs/numerics.md, section 12).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "kernels/backend.h"
#include "workunits/result_header.h"
#include "workunits/task.h"
#include "workunits/training/model.h"
#include "workunits/training/optimizer.h"
#include "workunits/training/samples.h"

namespace quorate {

// Everything that a unit has come to after some steps; a checkpoint keeps it.
struct TrainerState {
  std::uint32_t steps_done = 0;
  std::uint32_t diverged_step = 0;  // 1-based; 0: it did not diverge
  std::vector<float> losses;        // batch losses, one per step done
  std::vector<Hash> digests;        // so far
  std::vector<float> parameters;    // in declared order
  std::vector<float> optimizer;     // its state, array after array

  bool operator==(const TrainerState&) const = default;
};

struct TrainingResult {
  Claim claim;
  // sub(W_c, W_b) in declared order; empty if the training diverged.
  std::vector<float> delta;
  // The same as the codec of the task writes it, whose SHA-256 is
  // claim.update; empty if the training diverged.
  Bytes update;
};

class Trainer {
 public:
  // base: the snapshot's parameters in declared order; copied. The shard's
  // bytes and the backend must live as long as the trainer. Throws corrupt if
  // base or samples do not fit the task, unsupported or io as Model does.
  Trainer(const TrainingTask& task, std::span<const float> base,
          const Samples& samples, Backend& backend);

  // Steps done so far; of a diverged training, those before the step that
  // diverged.
  std::uint32_t steps_done() const { return steps_done_; }
  // State digests so far.
  std::span<const Hash> digests() const { return digests_; }
  // All steps are done, or the training has diverged.
  bool is_finished() const;
  // Computes one step. Not to be called once finished.
  void step();
  // Ends the unit. To be called once finished.
  TrainingResult finish();

  TrainerState state();
  // Goes on from a state of the same unit.
  void restore(const TrainerState& state);

 private:
  // Chooses the samples of the next batch.
  void choose_batch();
  // Takes part `part` of them through the network and back. After the last,
  // the model's gradients are the batch's.
  void pass(std::uint32_t part);
  Hash state_digest();
  std::vector<float> download(ConstView view);

  TrainingTask task_;
  Samples samples_;
  Backend& backend_;
  Model model_;
  Optimizer optimizer_;
  Tensor base_;
  Tensor sample_losses_;
  Tensor gradient_sum_;                 // over the parts of a batch so far
  std::vector<std::uint32_t> indices_;  // of the batch, in the shard
  std::vector<std::uint32_t> targets_;  // of a part of it
  std::uint32_t steps_done_ = 0;
  std::uint32_t diverged_step_ = 0;
  std::vector<float> losses_;
  std::vector<Hash> digests_;
};

}  // namespace quorate

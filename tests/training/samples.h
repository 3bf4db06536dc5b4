// A small unit to train, with everything it needs.
#pragma once

#include <memory>
#include <vector>

#include "workunits/objects/shard.h"
#include "workunits/task.h"
#include "workunits/training/trainer.h"

namespace quorate::test {

inline constexpr SampleShape kPatternShape{6, 7, 1};
// Large enough for convolutions, and no extent like another.
inline constexpr SampleShape kPatternImage{13, 15, 2};

// Three blurred patterns in noise as three classes: `samples` of them, the same
// for the same arguments.
struct PatternShard {
  PatternShard(std::uint32_t samples, std::uint64_t seed,
               const SampleShape& image = kPatternShape);
  ShardView view() const;

  SampleShape shape;
  std::vector<std::uint8_t> images;
  std::vector<std::uint8_t> labels;
};

// A unit of `steps` steps of 16 samples on such a shard of 512, by an
// mlp:21 from its initial parameters.
TrainingTask pattern_task(std::uint32_t steps);
std::vector<float> pattern_snapshot();
// The same by a lenet, on images.
TrainingTask image_task(std::uint32_t steps);

// The same by a resnet with batch norm.
TrainingTask batch_norm_task(std::uint32_t steps);

// A residual network of text with dropout, trained by AdamW with clipped
// gradients.
TrainingTask text_task(std::uint32_t steps);

// The samples of such a task, whatever its network, and its snapshot.
struct TaskShard {
  explicit TaskShard(const TrainingTask& task);
  Samples view() const;

  PatternShard images;
  Bytes tokens;
  TrainingTask task;
};
inline TaskShard shard_of(const TrainingTask& task) {
  return TaskShard(task);
}
std::vector<float> snapshot_of(const TrainingTask& task);

// Computes a whole unit.
TrainingResult train(const TrainingTask& task, Backend& backend);
inline TrainingResult finish(Trainer& trainer) {
  while (!trainer.is_finished()) trainer.step();
  return trainer.finish();
}

}  // namespace quorate::test

// A small unit to train, with everything it needs.
#pragma once

#include <memory>
#include <vector>

#include "workunits/shard.h"
#include "workunits/task.h"
#include "workunits/training/trainer.h"

namespace quorate::test {

// Three blurred patterns in noise, 6x7 pixels, as three classes: `samples` of
// them, the same for the same arguments.
struct PatternShard {
  PatternShard(std::uint32_t samples, std::uint64_t seed);
  ShardView view() const;

  std::vector<std::uint8_t> images;
  std::vector<std::uint8_t> labels;
};

// A unit of `steps` steps of 16 samples on such a shard of 512, by an
// mlp:21 from its initial parameters.
TrainingTask pattern_task(std::uint32_t steps);
std::vector<float> pattern_snapshot();

// Computes a whole unit.
TrainingResult train(const TrainingTask& task, Backend& backend);
inline TrainingResult finish(Trainer& trainer) {
  while (!trainer.is_finished()) trainer.step();
  return trainer.finish();
}

}  // namespace quorate::test

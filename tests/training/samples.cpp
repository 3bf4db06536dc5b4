#include "tests/training/samples.h"

#include "base/arithmetic.h"
#include "base/random.h"

namespace quorate::test {
namespace {

constexpr SampleShape kShape{6, 7, 1};
constexpr std::uint32_t kClasses = 3;

ModelSpec pattern_model() {
  return parse_model("mlp:21", kShape.size(), kClasses);
}

}  // namespace

PatternShard::PatternShard(std::uint32_t samples, std::uint64_t seed) {
  RandomStream words(seed, 0, 0);
  for (std::uint32_t i = 0; i < samples; ++i) {
    std::uint32_t label = integer_below(words.next(), kClasses);
    labels.push_back(static_cast<std::uint8_t>(label));
    for (std::uint32_t at = 0; at < kShape.size(); ++at) {
      std::uint32_t light = at % kClasses == label ? 60 : 0;
      images.push_back(
          static_cast<std::uint8_t>(light + integer_below(words.next(), 160)));
    }
  }
}

ShardView PatternShard::view() const {
  return {.shape = kShape,
          .samples = static_cast<std::uint32_t>(labels.size()),
          .images = images,
          .labels = labels};
}

TrainingTask pattern_task(std::uint32_t steps) {
  TrainingTask task;
  task.arithmetic = kArithmeticVersion;
  task.model = pattern_model();
  task.range = {.epoch = 2,
                .shard_index = 1,
                .shard_samples = 512,
                .first = 16,
                .steps = steps,
                .batch = 16};
  task.order_seed = 7;
  task.unit_seed = unit_seed(task.run, task.unit_index);
  task.optimizer = {
      .learning_rate = 0.1F, .momentum = 0.9F, .weight_decay = 0.001F};
  task.inverse_batch = 1.0F / 16;
  task.digest_every = digest_interval(steps);
  task.codec = "fp32";
  return task;
}

std::vector<float> pattern_snapshot() {
  return initial_parameters(pattern_model(), 11);
}

TrainingResult train(const TrainingTask& task, Backend& backend) {
  PatternShard shard(task.range.shard_samples, 1);
  Trainer trainer(task, pattern_snapshot(), shard.view(), backend);
  return finish(trainer);
}

}  // namespace quorate::test

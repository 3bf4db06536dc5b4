#include "tests/training/samples.h"

#include "base/arithmetic.h"
#include "base/random.h"

namespace quorate::test {
namespace {

constexpr std::uint32_t kClasses = 3;

ModelSpec pattern_model() {
  return parse_model("mlp:21", kPatternShape, kClasses);
}

}  // namespace

PatternShard::PatternShard(std::uint32_t samples, std::uint64_t seed,
                           const SampleShape& image)
    : shape(image) {
  RandomStream words(seed, 0, 0);
  for (std::uint32_t i = 0; i < samples; ++i) {
    std::uint32_t label = integer_below(words.next(), kClasses);
    labels.push_back(static_cast<std::uint8_t>(label));
    for (std::uint32_t at = 0; at < shape.size(); ++at) {
      std::uint32_t light = at % kClasses == label ? 60 : 0;
      images.push_back(
          static_cast<std::uint8_t>(light + integer_below(words.next(), 160)));
    }
  }
}

ShardView PatternShard::view() const {
  return {.shape = shape,
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
  return task;
}

std::vector<float> pattern_snapshot() {
  return initial_parameters(pattern_model(), 11);
}

TrainingTask image_task(std::uint32_t steps) {
  TrainingTask task = pattern_task(steps);
  task.model = parse_model("lenet:3,5,11,7", kPatternImage, kClasses);
  return task;
}

TrainingTask batch_norm_task(std::uint32_t steps) {
  TrainingTask task = pattern_task(steps);
  task.model =
      parse_model("resnet:1x6,1x12,norm=batch", kPatternImage, kClasses);
  return task;
}

TrainingTask text_task(std::uint32_t steps) {
  TrainingTask task = pattern_task(steps);
  task.model = parse_text_model(
      R"(layers {"context":20,"layers":[
        {"layer":"embedding","symbols":11,"channels":12},
        {"layer":"residual","branch":[
          {"layer":"layer_norm"}, {"layer":"linear","outputs":36},
          {"layer":"attention","heads":2}, {"layer":"linear","outputs":12},
          {"layer":"dropout","rate":0.1}]},
        {"layer":"residual","branch":[
          {"layer":"layer_norm"}, {"layer":"linear","outputs":24},
          {"layer":"gelu"}, {"layer":"linear","outputs":12}]},
        {"layer":"layer_norm"}, {"layer":"tied_linear","symbols":11}]})",
      11);
  task.range.shard_samples = 150;
  task.range.batch = 4;
  task.inverse_batch = inverse_batch(task.model, task.range.batch);
  task.optimizer = {.learning_rate = 0.01F,
                    .weight_decay = 0.01F,
                    .kind = OptimizerKind::adamw,
                    .beta1 = 0.9F,
                    .beta2 = 0.99F,
                    .epsilon = 1e-8F,
                    .clip_norm = 0.5F};
  return task;
}

TaskShard::TaskShard(const TrainingTask& of)
    : images(takes_text(of.model) ? 1 : of.range.shard_samples, 1,
             of.model.family == "mlp" || takes_text(of.model) ? kPatternShape
                                                              : of.model.input),
      task(of) {
  // Each token follows from the one before but for some noise.
  RandomStream words(/*key=*/3, /*stream=*/0, /*step=*/0);
  std::uint32_t count =
      takes_text(of.model) ? (of.range.shard_samples + 1) * targets_of(of.model)
                           : 0;
  for (std::uint32_t i = 0; i < count; ++i) {
    std::uint32_t next = i == 0 ? 0 : 3U * tokens.back() + 1;
    next += integer_below(words.next(), 8) == 0 ? 1 : 0;
    tokens.push_back(static_cast<std::uint8_t>(next % 11));
  }
}

Samples TaskShard::view() const {
  if (!takes_text(task.model)) return images.view();
  return Samples::of_text(tokens, classes_of(task.model),
                          targets_of(task.model));
}

std::vector<float> snapshot_of(const TrainingTask& task) {
  return initial_parameters(task.model, 11);
}

TrainingResult train(const TrainingTask& task, Backend& backend) {
  TaskShard shard = shard_of(task);
  Trainer trainer(task, snapshot_of(task), shard.view(), backend);
  return finish(trainer);
}

}  // namespace quorate::test

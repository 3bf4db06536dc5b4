#include "client/worker/checks/training_test.h"

#include <fmt/format.h>

#include "base/arithmetic.h"
#include "base/random.h"
#include "workunits/training/trainer.h"

namespace quorate::worker {
namespace {

// The claim hash of the unit below, the same on every device. It changes with
// the version of the arithmetic and never otherwise. Its digests, loss and
// update were also found by a program in exact rational arithmetic, written
// from docs/numerics.md alone.
constexpr const char* kExpectedClaim =
    "9a03309438ecddabd4ea9e541795dd06661c4a356e80830dde2d9f316e9b3b1c";

constexpr SampleShape kShape{7, 7, 1};
constexpr std::uint32_t kClasses = 5;
constexpr std::uint32_t kSamples = 64;

// Samples from Philox: any bytes will do, as long as they are always these.
struct Samples {
  Bytes images;
  Bytes labels;
};

Samples make_samples() {
  Samples samples;
  RandomStream words(/*key=*/1, stream_of(RandomUse::dataset_shuffle),
                     /*step=*/0);
  for (std::uint32_t i = 0; i < kSamples * kShape.size(); ++i) {
    samples.images.push_back(static_cast<std::uint8_t>(words.next() >> 24));
  }
  for (std::uint32_t i = 0; i < kSamples; ++i) {
    samples.labels.push_back(
        static_cast<std::uint8_t>(integer_below(words.next(), kClasses)));
  }
  return samples;
}

TrainingTask make_task() {
  TrainingTask task;
  task.arithmetic = kArithmeticVersion;
  task.model = {"mlp", {kShape.size(), 33, kClasses}};
  task.range = {.epoch = 1,
                .shard_index = 2,
                .shard_samples = kSamples,
                .first = 4,
                .steps = 6,
                .batch = 8};
  task.order_seed = 3;
  task.unit_seed = 4;
  task.optimizer = {0.1F, 0.9F, 0.001F};
  task.inverse_batch = 0.125F;
  task.digest_every = digest_interval(task.range.steps);
  return task;
}

}  // namespace

TestResult test_training(Backend& backend) {
  Samples samples = make_samples();
  TrainingTask task = make_task();
  std::vector<float> base = initial_parameters(task.model, /*seed=*/5);
  Trainer trainer(task, base,
                  ShardView{kShape, kSamples, samples.images, samples.labels},
                  backend);
  while (!trainer.is_finished()) trainer.step();
  std::string found = claim_hash(trainer.finish().claim).hex();
  bool passed = found == kExpectedClaim;
  return {"training unit", passed,
          passed ? ""
                 : fmt::format("expected {}, found {}", kExpectedClaim, found)};
}

}  // namespace quorate::worker

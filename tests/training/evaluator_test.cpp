#include "workunits/training/evaluator.h"

#include <algorithm>
#include <cmath>

#include <doctest/doctest.h>

#include "base/arithmetic.h"
#include "base/error.h"
#include "kernels/devices/backends.h"
#include "tests/training/samples.h"

namespace quorate {
namespace {

// More than one batch, and a rest.
constexpr std::uint32_t kSamples = 600;

std::vector<float> trained() {
  auto backend = make_backend("reference");
  std::vector<float> parameters = test::pattern_snapshot();
  TrainingResult result = test::train(test::pattern_task(30), *backend);
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    parameters[i] += result.delta[i];
  }
  return parameters;
}

}  // namespace

TEST_CASE("training makes a model better on samples it has not seen") {
  auto backend = make_backend("reference");
  test::PatternShard unseen(kSamples, 2);
  ModelSpec model = test::pattern_task(1).model;
  Score before =
      evaluate(model, test::pattern_snapshot(), unseen.view(), *backend);
  Score after = evaluate(model, trained(), unseen.view(), *backend);
  CHECK(before.samples == kSamples);
  CHECK(before.correct < kSamples / 2);
  CHECK(after.correct > kSamples * 3 / 4);
  CHECK(after.loss < 0.7F * before.loss);
}

TEST_CASE("a score does not depend on the device") {
  test::PatternShard unseen(kSamples, 2);
  ModelSpec model = test::pattern_task(1).model;
  std::vector<float> parameters = trained();
  auto reference = make_backend("reference");
  Score expected = evaluate(model, parameters, unseen.view(), *reference);
  for (const DeviceInfo& device : list_devices()) {
    CAPTURE(device.name);
    auto backend = make_backend(device.name, 2);
    CHECK(evaluate(model, parameters, unseen.view(), *backend) == expected);
  }
}

TEST_CASE("a score of a lenet does not depend on the device") {
  TrainingTask task = test::image_task(1);
  test::TaskShard shard = test::shard_of(task);
  std::vector<float> parameters = test::snapshot_of(task);
  auto reference = make_backend("reference");
  Score expected = evaluate(task.model, parameters, shard.view(), *reference);
  for (const DeviceInfo& device : list_devices()) {
    CAPTURE(device.name);
    auto backend = make_backend(device.name, 2);
    CHECK(evaluate(task.model, parameters, shard.view(), *backend) == expected);
  }
}

TEST_CASE("a score of a batch norm is by its running statistics") {
  TrainingTask task = test::batch_norm_task(30);
  test::TaskShard shard = test::shard_of(task);
  auto backend = make_backend("cpu");
  std::vector<float> parameters = test::snapshot_of(task);
  Trainer trainer(task, parameters, shard.view(), *backend);
  std::vector<float> delta = test::finish(trainer).delta;
  for (std::size_t i = 0; i < delta.size(); ++i) parameters[i] += delta[i];
  Score score = evaluate(task.model, parameters, shard.view(), *backend);
  CHECK(score.correct > score.samples * 3 / 4);
  for (const DeviceInfo& device : list_devices()) {
    CAPTURE(device.name);
    auto other = make_backend(device.name, 2);
    CHECK(evaluate(task.model, parameters, shard.view(), *other) == score);
  }
  // Without them it is another network.
  std::vector<float> initial = test::snapshot_of(task);
  auto first = static_cast<std::ptrdiff_t>(trainable_count(task.model));
  std::copy(initial.begin() + first, initial.end(), parameters.begin() + first);
  CHECK(evaluate(task.model, parameters, shard.view(), *backend) != score);
}

TEST_CASE("a model that knows nothing guesses") {
  auto backend = make_backend("reference");
  test::PatternShard unseen(kSamples, 2);
  ModelSpec model = test::pattern_task(1).model;
  std::vector<float> zeros(parameter_count(model));
  Score score = evaluate(model, zeros, unseen.view(), *backend);
  CHECK(score.loss == doctest::Approx(std::log(3.0)));
  // All classes tie, so each sample is taken for the first class.
  std::uint64_t of_first = 0;
  for (std::uint8_t label : unseen.labels) of_first += label == 0 ? 1U : 0U;
  CHECK(score.correct == of_first);
}

TEST_CASE("parameters of another model are refused") {
  auto backend = make_backend("reference");
  test::PatternShard unseen(kSamples, 2);
  ModelSpec model = test::pattern_task(1).model;
  std::vector<float> few(parameter_count(model) - 1);
  CHECK_THROWS_AS(evaluate(model, few, unseen.view(), *backend), Error);
}

}  // namespace quorate

#include "workunits/training/trainer.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include <doctest/doctest.h>

#include "base/arithmetic.h"
#include "base/error.h"
#include "base/random.h"
#include "kernels/devices/backends.h"
#include "tests/training/samples.h"
#include "workunits/objects/safetensors.h"

namespace quorate {
namespace {

using test::PatternShard;

float loss_of(const TrainingResult& result) {
  return float_of_bits(result.claim.loss_bits);
}

std::string failure_of(const TrainingTask& task, std::vector<float> base,
                       const ShardView& shard) {
  auto backend = make_backend("reference");
  try {
    Trainer trainer(task, base, shard, *backend);
  } catch (const Error& error) {
    CHECK(error.kind() == ErrorKind::corrupt);
    return error.what();
  }
  return "no error";
}

}  // namespace

TEST_CASE("one unit has one claim on every device and number of threads") {
  TrainingTask task;
  SUBCASE("mlp") {
    task = test::pattern_task(20);
  }
  SUBCASE("lenet") {
    task = test::image_task(10);
  }
  SUBCASE("batch norm") {
    task = test::batch_norm_task(6);
  }
  SUBCASE("batch norm, a batch in parts of 7, 7 and 2") {
    task = test::batch_norm_task(3);
    task.range.micro_batch = 7;
  }
  SUBCASE("text, dropout, AdamW, clipping") {
    task = test::text_task(10);
  }
  SUBCASE("the same, a batch in parts of 3 and 1") {
    task = test::text_task(10);
    task.range.micro_batch = 3;
  }
  auto reference = make_backend("reference");
  TrainingResult expected = test::train(task, *reference);
  for (const DeviceInfo& device : list_devices()) {
    for (unsigned threads : {1U, 2U, 3U}) {
      CAPTURE(device.name);
      CAPTURE(threads);
      auto backend = make_backend(device.name, threads);
      TrainingResult found = test::train(task, *backend);
      CHECK(found.claim == expected.claim);
      CHECK(claim_hash(found.claim) == claim_hash(expected.claim));
      CHECK(found.update == expected.update);
    }
  }
}

// Guards the definition itself: arithmetic, initial values, order of samples,
// digests. A change here is a new version of the arithmetic.
TEST_CASE("the state after a unit is the stored one") {
  auto backend = make_backend("reference");
  TrainingResult result = test::train(test::pattern_task(20), *backend);
  CHECK(result.claim.digests.back().hex() ==
        "56e9943b46125d91160cdf76ea75c4f07e143c23b0c4a5a706f5525ed3623035");
  CHECK(result.claim.loss_bits == 0x3f74c3f3);
}

TEST_CASE("the state after a unit of lenet is the stored one") {
  auto backend = make_backend("reference");
  TrainingResult result = test::train(test::image_task(10), *backend);
  CHECK(result.claim.digests.back().hex() ==
        "8fde2f51dc58a1451422a0433dd7e3dba6b2d92a04644effaa8f4a263210258d");
  CHECK(result.claim.loss_bits == 0x3f8e4d62);
}

TEST_CASE("a unit's claim says what was computed") {
  auto backend = make_backend("reference");
  TrainingTask task = test::pattern_task(20);
  TrainingResult result = test::train(task, *backend);
  const Claim& claim = result.claim;
  CHECK(claim.outcome == ComputeOutcome::success);
  CHECK(claim.diverged_step == 0);
  CHECK(claim.samples == 320);
  CHECK(claim.digests.size() == digest_count(task));
  CHECK(claim.update == sha256(result.update));
  CHECK(read_parameters(task.model, result.update, "update") == result.delta);
}

TEST_CASE("training lowers the loss") {
  auto backend = make_backend("reference");
  float first = loss_of(test::train(test::pattern_task(1), *backend));
  float mean = loss_of(test::train(test::pattern_task(30), *backend));
  CHECK(first > 0.9F);
  CHECK(mean < 0.7F * first);
}

TEST_CASE("a batch in parts has the loss of the whole, and its gradient") {
  auto backend = make_backend("reference");
  TrainingTask task = test::image_task(1);
  REQUIRE(task.range.batch == 16);
  TrainingResult whole = test::train(task, *backend);
  for (std::uint32_t part : {1U, 5U, 8U, 15U}) {
    CAPTURE(part);
    task.range.micro_batch = part;
    TrainingResult parts = test::train(task, *backend);
    CHECK(parts.claim.loss_bits == whole.claim.loss_bits);
    CHECK(parts.claim.samples == whole.claim.samples);
    double apart = 0;
    double norm = 0;
    for (std::size_t i = 0; i < whole.delta.size(); ++i) {
      double difference = double{parts.delta[i]} - whole.delta[i];
      apart += difference * difference;
      norm += double{whole.delta[i]} * whole.delta[i];
    }
    CHECK(apart < 1e-10 * norm);
    CHECK(apart > 0);
  }
}

TEST_CASE("parts of a batch count as steps for what is dropped") {
  auto backend = make_backend("reference");
  TrainingTask task = test::text_task(2);
  task.range.micro_batch = 3;  // then 1
  test::TaskShard shard(task);
  Trainer trainer(task, test::snapshot_of(task), shard.view(), *backend);
  trainer.step();
  std::vector<float> parameters = trainer.state().parameters;
  trainer.step();

  // The second step by hand.
  const SampleRange& range = task.range;
  Permutation order(range.shard_samples, task.order_seed,
                    stream_of(RandomUse::sample_order, range.shard_index),
                    range.epoch);
  Model model(task.model, 3, *backend);
  backend->upload(model.parameters(), parameters);
  Samples samples = shard.view();
  std::uint32_t shift =
      window_shift(task.model, task.order_seed, range.shard_index, range.epoch);
  std::vector<float> losses;
  for (std::uint32_t part : {0U, 1U}) {
    std::vector<std::uint32_t> indices;
    for (std::uint32_t i = 3 * part; i < std::min(3 * part + 3, 4U); ++i) {
      indices.push_back(order(range.first + 4 + i));
    }
    std::vector<std::uint32_t> targets;
    samples.load(indices, shift, *backend, model, targets);
    model.begin_step(task.unit_seed, 2 + part);
    ConstView logits = model.forward(indices.size());
    Tensor found = backend->tensor({targets.size()});
    backend->softmax_cross_entropy(logits, targets, 1.0F, found.view(),
                                   model.output_gradient(indices.size()));
    losses.resize(losses.size() + targets.size());
    backend->download(found.view(), std::span(losses).last(targets.size()));
  }
  CHECK(bits(trainer.state().losses.at(1)) ==
        bits(sum_r1(losses) * task.inverse_batch));
}

TEST_CASE("the delta leads from the base to the last parameters") {
  auto backend = make_backend("reference");
  TrainingTask task = test::pattern_task(5);
  PatternShard shard(task.range.shard_samples, 1);
  std::vector<float> base = test::pattern_snapshot();
  Trainer trainer(task, base, shard.view(), *backend);
  TrainingResult result = test::finish(trainer);
  std::vector<float> last = trainer.state().parameters;
  for (std::size_t i = 0; i < base.size(); ++i) {
    REQUIRE(bits(result.delta[i]) == bits(last[i] - base[i]));
  }
}

TEST_CASE("running statistics run, whatever the optimiser does") {
  auto backend = make_backend("cpu");
  TrainingTask task = test::batch_norm_task(1);
  auto statistics = [&](const TrainingTask& of) {
    std::vector<float> delta = test::train(of, *backend).delta;
    CHECK(delta.size() == parameter_count(of.model));
    return std::vector<float>(
        delta.end() - static_cast<std::ptrdiff_t>(statistic_count(of.model)),
        delta.end());
  };
  std::vector<float> usual = statistics(task);
  CHECK(std::count(usual.begin(), usual.end(), 0.0F) == 0);
  TrainingTask other = task;
  other.optimizer.learning_rate = 0.01F;
  other.optimizer.weight_decay = 0.1F;
  other.optimizer.clip_norm = 0.01F;
  CHECK(statistics(other) == usual);
  other.optimizer = test::text_task(1).optimizer;
  CHECK(statistics(other) == usual);
  // The second step has other samples.
  CHECK(statistics(test::batch_norm_task(2)) != usual);
  // They run after each part of a batch.
  other = task;
  other.range.micro_batch = 8;
  std::vector<float> in_parts = statistics(other);
  CHECK(in_parts != usual);
  // Twice a tenth of the way to about the same mean.
  CHECK(in_parts[0] / usual[0] == doctest::Approx(1.9).epsilon(0.05));
}

TEST_CASE("digests come after every d-th step and after the last") {
  auto backend = make_backend("reference");
  TrainingTask task = test::pattern_task(20);
  REQUIRE(task.digest_every == 3);
  PatternShard shard(task.range.shard_samples, 1);
  Trainer trainer(task, test::pattern_snapshot(), shard.view(), *backend);
  std::vector<std::uint32_t> at;
  while (!trainer.is_finished()) {
    std::size_t before = trainer.state().digests.size();
    trainer.step();
    if (trainer.state().digests.size() > before) {
      at.push_back(trainer.steps_done());
    }
  }
  CHECK(at == std::vector<std::uint32_t>{3, 6, 9, 12, 15, 18, 20});
}

TEST_CASE("each field of the task that should matter does") {
  auto backend = make_backend("reference");
  TrainingTask task = test::pattern_task(4);
  Hash usual = claim_hash(test::train(task, *backend).claim);
  auto changed = [&](auto change) {
    TrainingTask other = task;
    change(other);
    return claim_hash(test::train(other, *backend).claim) != usual;
  };
  CHECK(changed([](TrainingTask& t) { t.order_seed = 8; }));
  CHECK(changed([](TrainingTask& t) { t.range.epoch = 3; }));
  CHECK(changed([](TrainingTask& t) { t.range.shard_index = 2; }));
  CHECK(changed([](TrainingTask& t) { t.range.first = 17; }));
  CHECK(changed([](TrainingTask& t) { t.optimizer.learning_rate = 0.11F; }));
  CHECK(changed([](TrainingTask& t) { t.optimizer.momentum = 0.0F; }));
  CHECK(changed([](TrainingTask& t) { t.optimizer.weight_decay = 0.0F; }));
  CHECK_FALSE(changed([](TrainingTask& t) { t.unit_seed = 1; }));
}

TEST_CASE("a training that diverges ends with an honest claim") {
  TrainingTask task = test::pattern_task(20);
  task.optimizer.learning_rate = 1e19F;
  auto reference = make_backend("reference");
  TrainingResult expected = test::train(task, *reference);
  const Claim& claim = expected.claim;
  REQUIRE(claim.outcome == ComputeOutcome::diverged);
  REQUIRE(claim.diverged_step > 1);
  CHECK(claim.update.is_zero());
  CHECK(expected.update.empty());
  CHECK(expected.delta.empty());
  std::uint32_t before = claim.diverged_step - 1;
  CHECK(claim.samples == before * task.range.batch);
  CHECK(claim.digests.size() == before / task.digest_every);
  CHECK(std::isfinite(loss_of(expected)));
  for (const DeviceInfo& device : list_devices()) {
    CAPTURE(device.name);
    auto backend = make_backend(device.name, 2);
    CHECK(test::train(task, *backend).claim == claim);
  }
}

TEST_CASE("a snapshot that is not finite diverges at the first step") {
  auto backend = make_backend("reference");
  TrainingTask task = test::pattern_task(4);
  PatternShard shard(task.range.shard_samples, 1);
  std::vector<float> base = test::pattern_snapshot();
  base[5] = std::numeric_limits<float>::infinity();
  Trainer trainer(task, base, shard.view(), *backend);
  trainer.step();
  REQUIRE(trainer.is_finished());
  Claim claim = trainer.finish().claim;
  CHECK(claim.diverged_step == 1);
  CHECK(claim.samples == 0);
  CHECK(claim.digests.empty());
  CHECK(claim.loss_bits == 0);
}

TEST_CASE("a snapshot or shard that does not fit the task is refused") {
  TrainingTask task = test::pattern_task(4);
  PatternShard shard(task.range.shard_samples, 1);
  std::vector<float> base = test::pattern_snapshot();
  CHECK(failure_of(task, base, shard.view()) == "no error");

  std::vector<float> short_base(base.begin(), base.end() - 1);
  CHECK(failure_of(task, short_base, shard.view()) ==
        "unit 0: snapshot: expected 969 parameters, found 968");

  PatternShard small(511, 1);
  CHECK(failure_of(task, base, small.view()) ==
        "unit 0: shard: expected 512 samples, found 511");

  ShardView wide = shard.view();
  wide.shape = {6, 8, 1};
  CHECK(failure_of(task, base, wide) ==
        "unit 0: shard: expected samples of 42 values, found 48");

  TrainingTask image_task = test::image_task(4);
  test::TaskShard images = test::shard_of(image_task);
  ShardView turned = images.images.view();
  turned.shape = {15, 13, 2};
  CHECK(failure_of(image_task, test::snapshot_of(image_task), turned) ==
        "unit 0: shard: expected samples of 13 x 15 x 2, found 15 x 13 x 2");

  shard.labels[100] = 3;
  CHECK(failure_of(task, base, shard.view()) ==
        "unit 0: shard: expected labels below 3, found 3");
}

}  // namespace quorate

#include "workunits/training/trainer.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "base/arithmetic.h"
#include "base/error.h"
#include "base/random.h"
#include "kernels/float_environment.h"
#include "workunits/objects/update.h"
#include "workunits/training/float_bytes.h"
#include "workunits/training/loss.h"

namespace quorate {
namespace {

// The task that was given, once its inputs fit it: members are built from it.
const TrainingTask& checked(const TrainingTask& task,
                            std::span<const float> base,
                            const Samples& samples) {
  std::string what = fmt::format("unit {}", task.unit_index);
  auto expect = [&](std::uint64_t expected, std::uint64_t found,
                    const char* where, const char* of) {
    if (expected == found) return;
    throw Error(ErrorKind::corrupt,
                fmt::format("{}: {}: expected {} {}, found {}", what, where,
                            expected, of, found));
  };
  expect(parameter_count(task.model), base.size(), "snapshot", "parameters");
  samples.check_fit(task.model, what);
  expect(task.range.shard_samples, samples.count(), "shard", "samples");
  return task;
}

// The batch losses' mean; +0 if there are none.
float mean_loss(std::span<const float> losses) {
  if (losses.empty()) return 0.0F;
  CanonicalFloatMode mode;
  return sum_r1(losses) / static_cast<float>(losses.size());
}

}  // namespace

Trainer::Trainer(const TrainingTask& task, std::span<const float> base,
                 const Samples& samples, Backend& backend)
    : task_(checked(task, base, samples)),
      samples_(samples),
      backend_(backend),
      model_(task.model, task.range.pass(), backend),
      optimizer_(backend, task.optimizer, trainable_count(task.model)),
      base_(backend.tensor({base.size()})),
      sample_losses_(backend.tensor(
          {std::size_t{task.range.batch} * targets_of(task.model)})),
      gradient_sum_(backend.tensor(
          {task.range.passes() == 1 ? 0 : trainable_count(task.model)})) {
  backend_.upload(model_.parameters(), base);
  backend_.upload(base_.view(), base);
}

bool Trainer::is_finished() const {
  return steps_done_ == task_.range.steps || diverged_step_ != 0;
}

void Trainer::choose_batch() {
  const SampleRange& range = task_.range;
  Permutation order(range.shard_samples, task_.order_seed,
                    stream_of(RandomUse::sample_order, range.shard_index),
                    range.epoch);
  std::uint32_t first = range.first + steps_done_ * range.batch;
  indices_.clear();
  for (std::uint32_t i = 0; i < range.batch; ++i) {
    indices_.push_back(order(first + i));
  }
}

void Trainer::pass(std::uint32_t part) {
  const SampleRange& range = task_.range;
  std::size_t first = std::size_t{part} * range.pass();
  std::size_t count = std::min<std::size_t>(range.pass(), range.batch - first);
  samples_.load(std::span(indices_).subspan(first, count),
                window_shift(task_.model, task_.order_seed, range.shard_index,
                             range.epoch),
                backend_, model_, targets_);
  model_.begin_step(task_.unit_seed, steps_done_ * range.passes() + part);
  backend_.softmax_cross_entropy(
      model_.forward(count), targets_, task_.inverse_batch,
      sample_losses_.view().part(first * targets_of(task_.model),
                                 {targets_.size()}),
      model_.output_gradient(count));
  model_.backward(count);
  if (range.passes() == 1) return;
  View gradient = model_.gradients();
  if (part == 0) {
    backend_.scale(gradient, 1.0F, gradient_sum_.view());
  } else {
    bool is_last = part + 1 == range.passes();
    backend_.add(gradient_sum_.view(), gradient,
                 is_last ? gradient : gradient_sum_.view());
  }
}

void Trainer::step() {
  check(!is_finished(), "no step is left");
  CanonicalFloatMode mode;
  choose_batch();
  for (std::uint32_t i = 0; i < task_.range.passes(); ++i) pass(i);
  float loss = batch_loss(backend_, sample_losses_.view(), task_.inverse_batch);
  optimizer_.step(model_.trainable(), model_.gradients(),
                  model_.gradient_tensors(), steps_done_);
  if (!std::isfinite(loss) || !backend_.all_finite(model_.parameters())) {
    diverged_step_ = steps_done_ + 1;
    return;
  }
  losses_.push_back(loss);
  ++steps_done_;
  if (steps_done_ % task_.digest_every == 0 ||
      steps_done_ == task_.range.steps) {
    digests_.push_back(state_digest());
  }
}

TrainingResult Trainer::finish() {
  check(is_finished(), "steps are left");
  TrainingResult result;
  Claim& claim = result.claim;
  claim.digests = digests_;
  claim.samples = std::uint64_t{steps_done_} * task_.range.batch;
  claim.loss_bits = canonical_bits(mean_loss(losses_));
  if (diverged_step_ != 0) {
    claim.outcome = ComputeOutcome::diverged;
    claim.diverged_step = diverged_step_;
    return result;
  }
  Tensor delta = backend_.tensor(base_.shape());
  backend_.subtract(model_.parameters(), base_.view(), delta.view());
  result.delta = download(delta.view());
  CanonicalFloatMode mode;
  result.update = encode_update(task_, result.delta);
  claim.update = sha256(result.update);
  return result;
}

TrainerState Trainer::state() {
  return {.steps_done = steps_done_,
          .diverged_step = diverged_step_,
          .losses = losses_,
          .digests = digests_,
          .parameters = download(model_.parameters()),
          .optimizer = download(optimizer_.state())};
}

void Trainer::restore(const TrainerState& state) {
  check(state.steps_done <= task_.range.steps &&
            state.losses.size() == state.steps_done,
        "a state of this unit");
  steps_done_ = state.steps_done;
  diverged_step_ = state.diverged_step;
  losses_ = state.losses;
  digests_ = state.digests;
  backend_.upload(model_.parameters(), state.parameters);
  backend_.upload(optimizer_.state(), state.optimizer);
}

Hash Trainer::state_digest() {
  Sha256 hash;
  for (const View& part : {model_.parameters(), optimizer_.state()}) {
    std::vector<float> values = download(part);
    if (!backend_.all_finite(part)) make_nan_canonical(values);
    hash.update(bytes_of(values));
  }
  return hash.finish();
}

std::vector<float> Trainer::download(ConstView view) {
  std::vector<float> values(view.shape.count());
  backend_.download(view, values);
  return values;
}

}  // namespace quorate

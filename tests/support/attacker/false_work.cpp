#include "tests/support/attacker/false_work.h"

#include <algorithm>

namespace quorate::test {

TrainingResult compute(const Work& work, Backend& backend) {
  Trainer trainer(work.task, work.base, work.samples, backend);
  while (!trainer.is_finished()) trainer.step();
  return trainer.finish();
}

TrainingResult skip_steps(const Work& work, Backend& backend) {
  Work less = work;
  less.task.range.steps = std::max(1U, work.task.range.steps / 2);
  TrainingResult result = compute(less, backend);
  result.claim.samples = work.task.range.samples();
  if (!result.claim.digests.empty()) {
    Hash last = result.claim.digests.back();
    result.claim.digests.resize(digest_count(work.task), last);
  }
  return result;
}

TrainingResult optimize_cheaply(const Work& work, Backend& backend) {
  Work cheap = work;
  cheap.task.optimizer.momentum = 0;
  return compute(cheap, backend);
}

TrainingResult take_other_samples(const Work& work, Backend& backend) {
  Work other = work;
  SampleRange& range = other.task.range;
  auto taken = static_cast<std::uint32_t>(range.samples());
  std::uint32_t firsts = range.shard_samples - taken + 1;
  range.first = (range.first + taken) % firsts;
  return compute(other, backend);
}

TrainingResult start_from(std::span<const float> parameters, const Work& work,
                          Backend& backend) {
  Work other = work;
  other.base = parameters;
  return compute(other, backend);
}

}  // namespace quorate::test

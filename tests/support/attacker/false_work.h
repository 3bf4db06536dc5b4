// Work that was done otherwise than asked, and signed as asked: what a host
// that saves itself effort, or is broken, would report. All of a claim fits
// together: digests, loss and update come of the same false computation.
#pragma once

#include <span>

#include "kernels/backend.h"
#include "workunits/task.h"
#include "workunits/training/samples.h"
#include "workunits/training/trainer.h"

namespace quorate::test {

// A unit and what it is computed from.
struct Work {
  TrainingTask task;
  std::span<const float> base;
  Samples samples;
};

// As the task says.
TrainingResult compute(const Work& work, Backend& backend);
// Half of the steps; the last digest stands for those that are missing.
TrainingResult skip_steps(const Work& work, Backend& backend);
// SGD without momentum.
TrainingResult optimize_cheaply(const Work& work, Backend& backend);
// The samples that follow those of the task.
TrainingResult take_other_samples(const Work& work, Backend& backend);
// From other parameters of the same model.
TrainingResult start_from(std::span<const float> parameters, const Work& work,
                          Backend& backend);

}  // namespace quorate::test

// Who does the work of a run's assimilators while the writer's thread does
// other things: threads when a project is served, simulated time in a
// simulation.
#pragma once

#include <cstdint>

#include "server/writer/writer.h"
#include "workunits/workunit.h"

namespace quorate {

enum class StepPart {
  prepare,  // read and check the files of a result
  step,     // read the model, compute the step, write the model
};

class StepHelpers {
 public:
  virtual ~StepHelpers() = default;

  // Whether this run's results go through them. The others' are taken in by the
  // writer's thread itself, one after the other.
  virtual bool help(const Run& run) const = 0;
  // Does `work`, which throws nothing, on any thread, and later `done` as a job
  // of the writer, followed by settle(). Never calls either before it returns.
  // unit: whose result it is.
  virtual void start(StepPart part, const Run& run, WorkunitId unit, Job work,
                     Job done) = 0;
};

}  // namespace quorate

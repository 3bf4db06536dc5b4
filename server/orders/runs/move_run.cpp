#include "server/orders/runs/move_run.h"

#include <utility>

#include <fmt/format.h>

#include "base/error.h"

namespace quorate {

void move_run(ProjectState& state, Daemons& daemons, TrainingRun& training,
              RunState from, RunState to) {
  if (training.run.state != from) {
    throw Error(ErrorKind::usage,
                fmt::format("run {} is {}, not {}", training.run.name,
                            name_of(training.run.state), name_of(from)));
  }
  training.run.state = to;
  training.run.state_reason.clear();
  if (std::exchange(training.is_damaged, false)) {
    daemons.transitioner.forgive(training);
  }
  state.store.update_run(training.run);
  state.record(to == RunState::paused ? "run_paused" : "run_resumed",
               training.run.key, 0, "by the operator");
  daemons.scheduler.wake();
}

}  // namespace quorate

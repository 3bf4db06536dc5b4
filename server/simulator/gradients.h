// What simulated hosts find out about their units: computed for real, or
// nothing, for simulations of so many hosts that only the scheduling matters.
#pragma once

#include <map>
#include <memory>
#include <optional>

#include "server/simulator/worker_pool.h"
#include "server/state/project_state.h"

namespace quorate {

// Of an honest host; all have the same.
struct Finding {
  Claim claim;
  std::uint64_t update_bytes = 0;
  std::string device;
};

class Gradients {
 public:
  virtual ~Gradients() = default;

  // A host has the unit, and is expected to have computed it at `due`.
  virtual void begin(const Hash& workunit, Seconds due) = 0;
  // The host is done with the unit, or will not finish it.
  virtual void end(const Hash& workunit) = 0;
  // Of a unit that was begun. Its update is among the project's objects.
  // Throws unavailable if it cannot be computed.
  virtual const Finding& of(const Hash& workunit) = 0;

  // Of published parameters, on the data set's test part. One at a time;
  // evaluation() waits for it, and is nullopt if none was begun or nobody
  // knows.
  virtual void begin_evaluation(const TrainingRun& training,
                                const Hash& published) = 0;
  virtual std::optional<protocol::EvaluateDone> evaluation() = 0;
};

// workers: processes.
std::unique_ptr<Gradients> real_gradients(
    ProjectState& state, std::uint32_t workers,
    const protocol::WorkerOptions& options);
std::unique_ptr<Gradients> no_gradients(ProjectState& state);
// For simulations without gradients: signs nothing, and writes nothing down.
std::unique_ptr<const Notary> no_notary();

}  // namespace quorate

// The files that a validated unit's step needs.
#pragma once

#include <memory>
#include <string>

#include "server/units/feeder.h"
#include "workunits/objects/object_store.h"
#include "workunits/objects/parameter_values.h"

namespace quorate {

struct StepFiles {
  std::shared_ptr<const TrainingTask> task;
  std::uint64_t unit_index = 0;
  Hash snapshot;  // the parameters that the unit started from
  Hash update;    // of its canonical result

  // For messages.
  std::string snapshot_text() const;
  std::string update_text() const;
};

StepFiles step_files_of(LiveUnit& live);

// Mapped and checked, from any thread. Throw corrupt, naming the unit, if the
// file is missing or damaged.
ParameterValues map_base(const ObjectReader& objects, const StepFiles& files);
ParameterValues map_update(const ObjectReader& objects, const StepFiles& files);

}  // namespace quorate

#include "server/merging/step_files.h"

#include <fmt/format.h>

#include "workunits/objects/update.h"

namespace quorate {

std::string StepFiles::snapshot_text() const {
  return fmt::format("snapshot {} of unit {}", snapshot.hex(), unit_index);
}

std::string StepFiles::update_text() const {
  return fmt::format("update {} of unit {}", update.hex(), unit_index);
}

StepFiles step_files_of(LiveUnit& live) {
  return {live.task, live.unit.unit_index, live.unit.snapshot,
          live.find(live.unit.canonical_result)->update};
}

ParameterValues map_base(const ObjectReader& objects, const StepFiles& files) {
  return map_parameters(files.task->model, objects.map_checked(files.snapshot),
                        files.snapshot_text());
}

ParameterValues map_update(const ObjectReader& objects,
                           const StepFiles& files) {
  return map_update(*files.task, objects.map_checked(files.update),
                    files.update_text());
}

}  // namespace quorate

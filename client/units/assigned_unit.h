// The workunit of an assignment, checked before a worker sees it.
#pragma once

#include "client/exchange/object_cache.h"
#include "client/folder/project.h"
#include "workunits/assignment.h"
#include "workunits/task.h"

namespace quorate::client {

// The object of that kind. Throws corrupt if the project names none.
const ObjectRef& object_of(const Assignment& assignment, ObjectKind kind);

// Opens the seal and compares what the unit names with what was assigned. The
// worker checks again, whoever started it. Throws corrupt, io, unsupported for
// another arithmetic, or denied if the key that sealed it does not speak for
// the project at unix_ms.
// Reads the sealed unit from the cache, where it was put verified.
struct AssignedUnit {
  TrainingTask task;
  PublicKey sealed_with;
};
AssignedUnit open_unit(const Assignment& assignment, const ObjectCache& cache,
                       const Project& project, Millis unix_ms);

// The most bytes that an object of a unit can have, so that a project cannot
// fill the disk: a snapshot by the model, a shard by its samples.
inline constexpr std::uint64_t kMaxUnitBytes = 1 << 20;
std::uint64_t most_bytes(const TrainingTask& work, ObjectKind kind);
// Throws denied, naming object and sizes, if `object` has more than `most`.
void expect_size(const ObjectRef& object, std::uint64_t most);

}  // namespace quorate::client

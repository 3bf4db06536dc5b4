#include "client/units/snapshot_maker.h"

#include <new>
#include <span>
#include <vector>

#include <fmt/format.h>

#include "base/error.h"
#include "base/log.h"
#include "client/exchange/object_transfer.h"
#include "client/units/assigned_unit.h"
#include "workunits/objects/safetensors.h"
#include "workunits/objects/snapshot_delta.h"

namespace quorate::client {
namespace {

ObjectRef snapshot_named(const Hash& hash, std::uint64_t size) {
  return {ObjectKind::snapshot, hash, size};
}

// All of them or, if the server goes away, what is missing another time.
void fetch(ProjectApi& api, const ObjectCache& cache,
           std::span<const SnapshotStep> way) {
  for (const SnapshotStep& step : way) {
    download_object(api, step.delta, cache.part(step.delta));
  }
}

void make(const ObjectCache& cache, std::span<const SnapshotStep> way,
          const ObjectRef& wanted, const ModelSpec& model) {
  const ObjectRef first = snapshot_named(way.front().from, wanted.size);
  std::vector<float> values =
      read_parameters(model, MappedFile(cache.path(first)).bytes(),
                      "snapshot " + first.hash.hex());
  for (const SnapshotStep& step : way) {
    apply_snapshot_delta(model, MappedFile(cache.part(step.delta)), values,
                         "delta " + step.delta.hash.hex());
  }
  const ByteParts made = parameter_parts(model, values);
  if (const Hash found = made.hash(); found != wanted.hash) {
    throw Error(
        ErrorKind::corrupt,
        fmt::format("snapshot {}: the one built from deltas has the hash {}",
                    wanted.hash.hex(), found.hex()));
  }
  cache.put(wanted, made);
}

}  // namespace

void make_snapshot(ProjectApi& api, const ObjectCache& cache,
                   const Assignment& assignment, const ModelSpec& model,
                   std::uint64_t most_memory) {
  const ObjectRef& wanted = object_of(assignment, ObjectKind::snapshot);
  if (cache.contains(wanted)) return;
  // Before anything is fetched or allocated. Files are mapped; the values are
  // what costs memory.
  if (most_memory != 0 &&
      parameter_count(model) > most_memory / sizeof(float)) {
    log_info("snapshot_not_made", {{"why", "memory_mb"}});
    return;
  }
  const auto way = shortest_way(assignment, [&](const Hash& hash) {
    return cache.contains(snapshot_named(hash, wanted.size));
  });
  if (way.empty()) return;
  try {
    for (const SnapshotStep& step : way) expect_size(step.delta, wanted.size);
    expect_room(wanted, cache.part(wanted));
    fetch(api, cache, way);
    make(cache, way, wanted, model);
  } catch (const Error& error) {
    if (error.kind() == ErrorKind::unavailable) throw;
    log_warning("snapshot_not_made", {{"why", error.what()}});
  } catch (const std::bad_alloc&) {
    log_warning("snapshot_not_made", {{"why", "too little memory"}});
  }
  for (const SnapshotStep& step : way) fs::remove(cache.part(step.delta));
}

}  // namespace quorate::client

// Snapshots that need not be downloaded whole: a host that has an earlier one
// fetches what leads from there to the next.
#pragma once

#include "client/exchange/object_cache.h"
#include "client/exchange/project_api.h"
#include "workunits/assignment.h"
#include "workunits/models/model_spec.h"

namespace quorate::client {

// Puts the assignment's snapshot into the cache, if a way that the project
// names leads there from one that is in it. Does nothing if there is none, or
// if that fails in any way but one: then the snapshot is to be downloaded.
// most_memory: bytes that the model's values may take here; a larger model is
// not made, because the agent, unlike a worker, has no limit of its own. 0:
// any. Throws unavailable; what has come of the deltas stays.
void make_snapshot(ProjectApi& api, const ObjectCache& cache,
                   const Assignment& assignment, const ModelSpec& model,
                   std::uint64_t most_memory = 0);

}  // namespace quorate::client

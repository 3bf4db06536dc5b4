// Replicas that need not be downloaded: a host that trained one makes its next
// snapshot itself, with its own update and the replica that it met, which it
// fetches from a mate of its site.
#pragma once

#include <stop_token>

#include "base/clock.h"
#include "client/exchange/object_cache.h"
#include "client/site/mates.h"
#include "workunits/assignment.h"
#include "workunits/task.h"

namespace quorate::client {

// For what a mate does not have yet.
struct Waiting {
  const std::stop_token& stop;
  Seconds patience{2};
};

// Puts the assignment's snapshot into the cache, if it says how that came about
// and all of it is here or at a mate. Else, and if that fails, it does nothing:
// then the snapshot is to be downloaded. work: the assigned task.
void make_replica(Mates& mates, const ObjectCache& cache,
                  const Assignment& assignment, const TrainingTask& work,
                  const Waiting& waiting);

}  // namespace quorate::client

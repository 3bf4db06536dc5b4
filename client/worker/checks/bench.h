// How fast a device is, at what training asks of it.
#pragma once

#include <vector>

#include "base/clock.h"
#include "kernels/backend.h"
#include "protocol/worker/reports.h"

namespace quorate::worker {

// Products of several shapes in Gflop/s, and training steps of the default
// network of each family in samples/s. Takes a few seconds.
std::vector<protocol::BenchCase> bench_device(Backend& backend,
                                              const Clock& clock);

// The first of those alone, about a second even on a slow device: enough to
// compare the devices of a computer.
std::vector<protocol::BenchCase> bench_quickly(Backend& backend,
                                               const Clock& clock);

}  // namespace quorate::worker

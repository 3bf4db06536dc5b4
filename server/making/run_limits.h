// What a run has taken, and when that is enough. Pure.
#pragma once

#include <string>

#include "server/settings/settings.h"
#include "workunits/workunit.h"

namespace quorate {

// How long a device will be at it, in seconds. speed_flops: as its host says;
// 0: unknown. most: whatever the host says; by then others get the unit.
double estimated_seconds(double operations, double speed_flops, Seconds most);

// Of an hour, by the operator's prices. device: as hosts name theirs.
double price_per_hour(const ServerSettings& settings,
                      const std::string& device);

// Why the run ends now, for people; empty: it goes on. last: the newest
// evaluation, if there is one.
std::string reason_to_end(const RunUntil& until, const RunUsage& used,
                          const Evaluation* last);

// "accuracy=0.9 time=6h cost=20", as they are typed; empty: none.
std::string text_of(const RunUntil& until);

}  // namespace quorate

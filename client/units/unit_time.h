// How long a unit may take on this machine. Pure.
#pragma once

#include "base/clock.h"
#include "workunits/task.h"
#include "workunits/workunit.h"

namespace quorate::client {

// What the unit's layers need at this speed; 0: the speed is not known.
// speed_flops: operations a second, as an earlier result was computed at.
Seconds estimated_time(const TrainingTask& work, double speed_flops);

// For how long it may compute before it is given up: thirty times the estimate,
// for other programs may leave our niced workers a twentieth of the cores, and
// at least ten minutes more than it, for not all layers count; but no longer
// than `longest`, the volunteer's unit_hours. 0 there: any; as an estimate: not
// known. Returns 0 if nothing bounds it.
Seconds most_time(Seconds estimate, Seconds longest);

// Throws unsupported, naming both, if the estimate is longer than `longest`.
void expect_short_enough(ResultId result, Seconds estimate, Seconds longest);

}  // namespace quorate::client

// validate and assimilate: one pass by hand of what the daemons normally do, or
// a look at what it would do. Used by the writer's thread only.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "server/project/daemons.h"

namespace quorate {

// arguments: "workunit" (else all live ones); "dry_run": nothing is changed.
// {"looked_at", "waiting_for_assimilation": ids}, or of a dry run {"looked_at",
// "units": [{workunit, run, unit_index, state, step, canonical, valid, invalid,
// may_be_checked, says}]}. Throws usage for a unit that never was.
nlohmann::json validate_by_hand(ProjectState& state, Daemons& daemons,
                                const nlohmann::json& arguments);

// arguments: "run" (else all); "up_to_version" or "up_to_unit": not beyond;
// "dry_run". A row for each run: {run, version_before, version, why_none}, and
// of a dry run "units" with rule, coefficients and norms. Throws usage for a
// limit that cannot be reached, and for a version without a run if there are
// several.
nlohmann::json assimilate_by_hand(ProjectState& state, Daemons& daemons,
                                  const nlohmann::json& arguments);

}  // namespace quorate

// The filters of the operator's lists, from the arguments of an order. All are
// optional. Throw usage, saying what is known, for what there is not.
//   run, host, user: names or ids; since: see since_text(); device: part of a
//   device's name; state: a word that the list shows
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "server/state/project_state.h"

namespace quorate {

// state: of the columns STATE, OUTCOME or VALIDATE, or "waiting": reported and
// not judged. rejected: true is state "invalid".
ResultFilter result_filter(ProjectState& state,
                           const nlohmann::json& arguments);
// state: of the unit, or of its check.
WorkunitFilter workunit_filter(ProjectState& state,
                               const nlohmann::json& arguments);

}  // namespace quorate

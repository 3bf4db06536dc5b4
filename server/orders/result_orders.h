// What the operator orders about single results and workunits. What speaks
// against an order is server/units/decision_by_hand's to say, and is thrown as
// usage before anything is changed.
//
// arguments: "result" or "workunit", its id; "why", for people: it stands with
// the result, which its host and the page may see. Each answers with
// {"order", "run", "workunit", "workunit_state", "result", "result_state",
//  "next"}: next is a sentence, what follows from it.
#pragma once

#include <string>

#include <nlohmann/json_fwd.hpp>

#include "server/project/daemons.h"
#include "server/state/project_state.h"

namespace quorate {

nlohmann::json reject_result(ProjectState& state, Daemons& daemons,
                             const nlohmann::json& arguments);
// Also "unverified": true, nobody recomputes it, and the ledger says so.
nlohmann::json accept_result(ProjectState& state, Daemons& daemons,
                             const nlohmann::json& arguments);
nlohmann::json revoke_result(ProjectState& state, Daemons& daemons,
                             const nlohmann::json& arguments);

// What of an order cannot be undone, as a sentence: whoever gives it is to be
// asked first. Empty: nothing of it. command: as the admin CLI sends it.
std::string warning_of(const std::string& command,
                       const nlohmann::json& arguments);

nlohmann::json cancel_workunit(ProjectState& state, Daemons& daemons,
                               const nlohmann::json& arguments);
nlohmann::json reissue_workunit(ProjectState& state, Daemons& daemons,
                                const nlohmann::json& arguments);
// Also "results": how many more; else one.
nlohmann::json replicate_workunit(ProjectState& state, Daemons& daemons,
                                  const nlohmann::json& arguments);

}  // namespace quorate

// What the operator decides about an account: all hosts of one volunteer, and
// those to come. Each answers with the account's row.
// arguments: "user" (id, name or key), "reason".
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "server/project/daemons.h"
#include "server/state/project_state.h"

namespace quorate {

nlohmann::json list_users(ProjectState& state, const nlohmann::json& arguments);
nlohmann::json show_user(ProjectState& state, const nlohmann::json& arguments);
// Throw usage for the server's own account; pardon_user, also for one that is
// not banned.
nlohmann::json ban_user(ProjectState& state, Daemons& daemons,
                        const nlohmann::json& arguments);
nlohmann::json pardon_user(ProjectState& state, Daemons& daemons,
                           const nlohmann::json& arguments);

}  // namespace quorate

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
// These throw usage for the server's own account; and for one that
// is deleted; pardon_user, also for one that is
// not banned.
nlohmann::json ban_user(ProjectState& state, Daemons& daemons,
                        const nlohmann::json& arguments);
nlohmann::json pardon_user(ProjectState& state, Daemons& daemons,
                           const nlohmann::json& arguments);
// Also "name": what the account is called from now on, whatever its client
// says; one plain line.
nlohmann::json rename_user(ProjectState& state,
                           const nlohmann::json& arguments);
// Cannot be undone: see Consequences::delete_user.
nlohmann::json delete_user(ProjectState& state, Daemons& daemons,
                           const nlohmann::json& arguments);

}  // namespace quorate

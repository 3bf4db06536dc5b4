// Which host a replica is kept for: drawn, so that nobody can choose whose
// results theirs are compared with.
#pragma once

#include <optional>

#include "server/sending/matching.h"
#include "server/sending/waiting_hosts.h"
#include "server/state/project_state.h"

namespace quorate {

// Of the hosts that wait and have nothing, nor is anything kept for them; else
// of all that are active; alike over users first, see draw_host(). A user who
// has or is kept another replica of the unit is not drawn. anchor: only proven
// hosts, idle or not, all users alike. nullopt: nobody suits.
std::optional<HostId> draw_host_for(const ProjectState& state,
                                    const LiveUnit& live, ResultId result,
                                    const WaitingHosts& waiting,
                                    bool anchor = false);

}  // namespace quorate

// Which host a replica is kept for: drawn, so that nobody can choose whose
// results theirs are compared with.
#pragma once

#include <optional>
#include <span>

#include "server/matching.h"
#include "server/project_state.h"

namespace quorate {

// Of the hosts that wait and have nothing, else of all that are active; alike
// over users first, see draw_host(). A user who has or is kept another replica
// of the unit is not drawn. nullopt: nobody suits.
std::optional<HostId> draw_host_for(const ProjectState& state,
                                    const LiveUnit& live, ResultId result,
                                    std::span<const HostId> waiting);

}  // namespace quorate

// Which host a replica is kept for: drawn, so that nobody can choose whose
// results theirs are compared with.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "server/sending/waiting_hosts.h"
#include "server/state/project_state.h"

namespace quorate {

// A host that could be drawn for a replica.
struct Candidate {
  HostId host = 0;
  UserId user = 0;
};

// The draw itself, pure: uniform over the users first and then over a user's
// hosts, so that neither asking often nor registering many hosts raises
// anybody's weight. random: two secret words. nullopt: there are none.
std::optional<HostId> draw_host(std::span<const Candidate> candidates,
                                std::uint64_t random_user,
                                std::uint64_t random_host);

// Draws one of the hosts that may compute the unit (server/sending/eligibility)
// for its unsent result. It prefers hosts that wait for work and have none, nor
// any kept for them; if there is no such host, it draws among all that are
// active. It never draws a user who has, or is kept, another result of the
// unit. anchor: it draws among the proven hosts alone, whether they wait or
// not. nullopt: no host may have it. A unit's first result is not drawn:
// whoever asks for work gets it (Scheduler::pick).
std::optional<HostId> draw_host_for(const ProjectState& state,
                                    const LiveUnit& live, ResultId result,
                                    const WaitingHosts& waiting,
                                    bool anchor = false);

}  // namespace quorate

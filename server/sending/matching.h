// Which host may compute which result. Pure: the draw's randomness is given.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "workunits/workunit.h"

namespace quorate {

// Whether a user's host may take another result of this unit: never two of one
// unit to one user, whatever became of the first, but for one taken back
// through no fault of the host's.
bool suits(std::span<const Result> results, UserId user);
// The same, but a result that the user lost by silence does not count: for a
// unit that nobody else can finish.
bool suits_again(std::span<const Result> results, UserId user);

// A host that could be drawn for a replica.
struct Candidate {
  HostId host = 0;
  UserId user = 0;
};

// Draws the host of a replica, uniformly over the users first and then over a
// user's hosts, so that neither asking often nor registering many hosts raises
// anybody's weight. random: two secret words. nullopt: there are none.
std::optional<HostId> draw_host(std::span<const Candidate> candidates,
                                std::uint64_t random_user,
                                std::uint64_t random_host);

}  // namespace quorate

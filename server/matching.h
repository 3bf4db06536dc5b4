// Which host may compute which result. Pure: the draw's randomness is given.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "workunits/workunit.h"

namespace quorate {

// Whether a user's host may take another result of this unit: never two of one
// unit to one user, whatever became of the first.
bool suits(std::span<const Result> results, UserId user);

// A host that could be drawn for a replica.
struct Candidate {
  HostId host = 0;
  UserId user = 0;
  bool is_waiting = false;  // asks for work at this moment and has none
};

// Draws the host of a replica, uniformly over the users first and then over a
// user's hosts, so that neither asking often nor registering many hosts raises
// anybody's weight. Hosts that wait go before hosts that are busy; nobody knows
// beforehand for which unit. random: two secret words. Returns nullopt if
// nobody suits.
std::optional<HostId> draw_host(std::span<const Result> results,
                                std::span<const Candidate> candidates,
                                std::uint64_t random_user,
                                std::uint64_t random_host);

}  // namespace quorate

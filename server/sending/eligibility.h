// May this host compute another result of this unit? The one answer, for hosts
// that ask, for the draw, and for people who want to know why a run waits. Used
// by the writer's thread only.
#pragma once

#include <optional>
#include <span>

#include "server/state/project_state.h"

namespace quorate {

// True if a user's host may take another result of a unit that has these: never
// two of one unit to one user, whatever became of the first. Only a result that
// was taken back through no fault of the host's does not count.
bool suits(std::span<const Result> results, UserId user);
// The same, but neither does a result count that the user lost by silence: for
// a unit that nobody else can finish.
bool suits_again(std::span<const Result> results, UserId user);

class Eligibility {
 public:
  enum class From {
    anybody,
    anchors,  // hosts whose word can vouch for others: proven, or the house's
  };

  // again: asks suits_again() instead of suits().
  Eligibility(const ProjectState& state, const LiveUnit& live,
              bool again = false)
      : state_(state), live_(live), again_(again) {}

  bool suits(UserId user) const;
  // True if this host, which is asking now, may have one: its user suits, it is
  // not banned, no host of its site or block of addresses has one, and it is an
  // anchor if one is wanted.
  bool may(const Host& host, From from = From::anybody) const;
  // The same for a host that is not asking: it must be active, too.
  bool is_there(HostId host, From from = From::anybody) const;
  // Some volunteer's host is there and may. Looks at users first: quick with
  // thousands.
  bool has_volunteer(From from = From::anybody) const;

 private:
  const ProjectState& state_;
  const LiveUnit& live_;
  bool again_;
};

}  // namespace quorate

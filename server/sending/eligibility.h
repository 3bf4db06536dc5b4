// May this host compute another result of this unit? The one answer, for hosts
// that ask, for the draw, and for people who want to know why a run waits. Used
// by the writer's thread only.
#pragma once

#include <optional>

#include "server/state/project_state.h"

namespace quorate {

class Eligibility {
 public:
  enum class From {
    anybody,
    anchors,  // hosts whose word can vouch for others: proven, or the house's
  };

  // again: a result that the user lost by silence does not count, for a unit
  // that nobody else can finish.
  Eligibility(const ProjectState& state, const LiveUnit& live,
              bool again = false)
      : state_(state), live_(live), again_(again) {}

  // True if the user has had no result of the unit: never two of one unit to
  // one user, whatever became of the first, unless it was taken back through no
  // fault of the host's.
  bool suits(UserId user) const;
  // True if the host may have one: its user suits, it is not banned, no host of
  // its block of addresses has one, and it is an anchor if one is wanted.
  // `host` is there, as it asks.
  bool may(const Host& host, From from = From::anybody) const;
  // The same of a host that may have gone: it is active, too.
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

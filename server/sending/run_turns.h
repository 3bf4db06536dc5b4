// Whose turn it is to have a host compute for it: hosts' time goes to runs in
// proportion to their shares.
//
// Start-time fair queueing (Goyal, Vin, Cheng 1996). A run's mark is the hosts'
// time that it got, divided by its share; the run with the lowest is next. Who
// has no work saves nothing up: its mark is raised meanwhile to the lowest of
// those that have. A later turn than its share says is made up for; an idle
// hour is not.
//
// Marks are in memory only. After a restart all begin at the same one, which
// loses what a run was behind: a few units at the most.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include "workunits/workunit.h"

namespace quorate {

// A run that has a unit for the host.
struct RunTurn {
  RunKey run = 0;
  double share = 1;  // positive
  double mark = 0;   // hosts' seconds over share
};

// The order in which runs are asked for a unit, pure: the lowest mark first, of
// equals the older run. But the run whose files the host has (home) is first as
// long as it is not further ahead than `slack`, in hosts' seconds of the
// smaller of the two shares: so hosts stay with a run, and only as many as its
// share wants change over.
std::vector<RunKey> in_turn(std::vector<RunTurn> runs,
                            std::optional<RunKey> home, double slack);

// Of so many hosts, those that a run's share stands for; at least one. all: the
// sum of the shares. A round has units for these only.
std::size_t hosts_of_share(std::size_t hosts, double share, double all);

// The marks. Used by the writer's thread only.
class RunTurns {
 public:
  // with_work: all runs that have a unit now, their marks not set. hosts: that
  // are at work. Call it whenever a host asks: what is not among with_work is
  // idle.
  std::vector<RunKey> order(std::vector<RunTurn> with_work,
                            std::optional<RunKey> home, std::size_t hosts);
  // A result of the run went to a host, who will have it for so long.
  void charge(RunKey run, double share, double host_seconds);

 private:
  std::map<RunKey, double> marks_;
  // The lowest mark of the runs that had work; never falls. New runs begin
  // there.
  double now_ = 0;
  double usual_ = 0;  // hosts' seconds of a result, lately
};

}  // namespace quorate

// How many results (instances) a workunit calls for. Pure; the server's
// transitioner asks and acts. docs/validation.md.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "validator/quorum.h"
#include "workunits/workunit.h"

namespace quorate {

// What became of the results of one workunit so far.
struct Instances {
  std::uint32_t unsent = 0;
  std::uint32_t in_progress = 0;
  std::uint32_t undecided = 0;  // reported, screened, no quorum yet
  std::uint32_t errors = 0;     // failed on the host, or rejected by screening
  std::uint32_t no_reply = 0;   // the lease ran out
  std::uint32_t unneeded = 0;   // taken back before they were done
  // Of those in progress: no longer waited for, though they may yet count.
  std::uint32_t slow = 0;
  // House workers' share of those in progress, and of the errors.
  std::uint32_t house_in_progress = 0;
  std::uint32_t house_errors = 0;

  std::uint32_t outstanding() const { return unsent + in_progress - slow; }
  std::uint32_t total() const {
    return unsent + in_progress + undecided + errors + no_reply + unneeded;
  }
  bool operator==(const Instances&) const = default;
};

// results: all of one workunit. slow: those whose hosts take much longer than
// others while the run waits.
Instances count_instances(std::span<const Result> results,
                          std::span<const ResultId> slow = {});

struct ReplicationDecision {
  std::uint32_t create = 0;  // new instances, unsent
  // A house worker should compute an unsent instance now.
  bool wants_house = false;
  // Why the workunit can never be validated; empty while there is hope.
  std::string failure;

  bool operator==(const ReplicationDecision&) const = default;
};

// What an open workunit needs next.
// quorum: the undecided one of its results.
// volunteer_eligible: a host that may compute it (of a user that has not yet,
// proven if it takes an anchor) has been active lately.
// has_house: the project has house workers.
// Keeps target_results instances alive and at least `missing` of them
// outstanding; never more than max_total_results in all. In place of a slow one
// another is made: a backup task; after two slow ones a house worker computes
// it, so that hosts which keep units hold up a run three times at most. When
// results disagree
// a house worker is the referee, and the last one allowed goes to one as well.
// After more than max_error_results errors volunteers
// get it no more: a house worker computes it, so that nobody can have a run's
// data left out by failing. Without one, or when that fails too, the unit
// fails; so it does when nothing is outstanding and nothing more may be made.
ReplicationDecision more_results_wanted(const Workunit& unit,
                                        const Instances& instances,
                                        const QuorumDecision& quorum,
                                        bool volunteer_eligible,
                                        bool has_house);

}  // namespace quorate

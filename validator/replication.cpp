#include "validator/replication.h"

#include <algorithm>

#include <fmt/format.h>

namespace quorate {
namespace {

std::uint32_t short_of(std::uint32_t wanted, std::uint32_t present) {
  return wanted > present ? wanted - present : 0;
}

void count_over(const Result& result, Instances& instances) {
  switch (result.outcome) {
    case ResultOutcome::success:
      ++instances.undecided;
      break;
    case ResultOutcome::client_error:
    case ResultOutcome::validate_error:
      ++instances.errors;
      if (result.user == kHouseUser) ++instances.house_errors;
      break;
    case ResultOutcome::no_reply:
      ++instances.no_reply;
      break;
    case ResultOutcome::init:
    case ResultOutcome::didnt_need:
      ++instances.unneeded;
      break;
  }
}

// Instances that should be made if there were no limit on their number.
std::uint32_t instances_short(const Workunit& unit, const Instances& now,
                              std::uint32_t missing) {
  return std::max(
      short_of(unit.target_results, now.outstanding() + now.undecided),
      short_of(missing, now.outstanding()));
}

}  // namespace

Instances count_instances(std::span<const Result> results,
                          std::span<const ResultId> slow) {
  Instances instances;
  for (const Result& result : results) {
    switch (result.server_state) {
      case ServerState::unsent:
        ++instances.unsent;
        break;
      case ServerState::in_progress:
        ++instances.in_progress;
        if (std::find(slow.begin(), slow.end(), result.id) != slow.end()) {
          ++instances.slow;
        }
        if (result.user == kHouseUser) ++instances.house_in_progress;
        break;
      case ServerState::over:
        count_over(result, instances);
        break;
    }
  }
  return instances;
}

ReplicationDecision more_results_wanted(const Workunit& unit,
                                        const Instances& instances,
                                        const QuorumDecision& quorum,
                                        bool volunteer_eligible,
                                        bool has_house) {
  ReplicationDecision decision;
  const bool house_is_on_it = instances.house_in_progress > 0;
  if (instances.errors > unit.max_error_results) {
    if (has_house && instances.house_errors == 0) {
      decision.wants_house = !house_is_on_it;
      decision.create =
          decision.wants_house ? short_of(1, instances.unsent) : 0;
      return decision;
    }
    decision.failure = fmt::format("{} results failed, {} are allowed",
                                   instances.errors, unit.max_error_results);
    return decision;
  }
  const std::uint32_t room =
      short_of(unit.max_total_results, instances.total());
  // A house worker's result would have decided: these are all volunteers'.
  const bool dispute = has_house && quorum.is_disputed;

  decision.create = instances_short(unit, instances, quorum.missing);
  if (dispute && !house_is_on_it && instances.unsent == 0) {
    decision.create = std::max(decision.create, 1U);
  }
  const bool last_chance = decision.create >= room;
  decision.create = std::min(decision.create, room);
  const std::uint32_t unsent = instances.unsent + decision.create;
  if (unsent + instances.in_progress == 0 && quorum.missing > 0) {
    decision.failure = fmt::format(
        "{} results were made, {} are allowed, and no {} of them agree",
        instances.total(), unit.max_total_results, unit.min_quorum);
    return decision;
  }
  constexpr std::uint32_t kMostSlow = 1;
  decision.wants_house = unsent > 0 && !house_is_on_it &&
                         (dispute || last_chance || !volunteer_eligible ||
                          instances.slow > kMostSlow);
  return decision;
}

}  // namespace quorate

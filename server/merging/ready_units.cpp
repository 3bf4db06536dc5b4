#include "server/merging/ready_units.h"

#include <algorithm>

#include <fmt/format.h>

#include "server/making/work_generator.h"

namespace quorate {
namespace {

const std::set<WorkunitId>& validated_units(const ProjectState& state,
                                            const TrainingRun& training) {
  return state.feeder.units_in(training.run.key, WorkunitState::validated);
}

const Workunit& unit_of(const ProjectState& state, WorkunitId id) {
  return state.feeder.units().at(id).unit;
}

// Asked after every result: the first of a million answers it.
bool has_open_units_of_round(const ProjectState& state,
                             const TrainingRun& training) {
  const std::set<WorkunitId>& open =
      state.feeder.units_in(training.run.key, WorkunitState::open);
  return std::any_of(open.begin(), open.end(), [&](WorkunitId id) {
    return unit_of(state, id).round == training.cursor.round;
  });
}

ReadyUnits ready_round(const ProjectState& state, const TrainingRun& training,
                       const PassLimit& limit) {
  ReadyUnits ready;
  if (!round_standing(state, training).is_complete) return ready;
  if (limit.version && training.model.version() >= *limit.version) return ready;
  const std::set<WorkunitId>& validated = validated_units(state, training);
  ready.units.assign(validated.begin(), validated.end());
  std::sort(
      ready.units.begin(), ready.units.end(), [&](WorkunitId a, WorkunitId b) {
        return unit_of(state, a).unit_index < unit_of(state, b).unit_index;
      });
  ready.closes_round = true;
  return ready;
}

}  // namespace

RoundStanding round_standing(const ProjectState& state,
                             const TrainingRun& training) {
  const RunCursor& cursor = training.cursor;
  RoundStanding round;
  round.validated = validated_units(state, training).size();
  const bool all_made = cursor.round_made >= cursor.round_units ||
                        training.is_handed_out() || training.is_at_barrier();
  round.enough =
      units_that_close(training.run.round_share,
                       all_made ? cursor.round_made : cursor.round_units);
  // Units that failed can leave a round with fewer than it wants.
  round.is_complete = cursor.round_made != 0 &&
                      (round.validated >= round.enough ||
                       (all_made && !has_open_units_of_round(state, training)));
  return round;
}

ReadyUnits ready_units(const ProjectState& state, const TrainingRun& training,
                       const PassLimit& limit) {
  if (training.rule->in_rounds()) return ready_round(state, training, limit);
  ReadyUnits ready;
  std::uint64_t version = training.model.version();
  for (WorkunitId id : validated_units(state, training)) {
    if (limit.version && version >= *limit.version) break;
    ready.units.push_back(id);
    ++version;
    if (limit.unit && id == *limit.unit) break;
  }
  return ready;
}

std::string why_nothing_is_ready(const ProjectState& state,
                                 const TrainingRun& training) {
  if (!training.is_active()) {
    return fmt::format("the run is {}", name_of(training.run.state));
  }
  if (!training.is_loaded || training.is_damaged) {
    return training.run.state_reason;
  }
  if (training.is_revising) {
    return "the model is being rebuilt without what was revoked";
  }
  if (!training.rule->in_rounds()) {
    return validated_units(state, training).empty() ? "no unit is validated"
                                                    : "";
  }
  const RoundStanding round = round_standing(state, training);
  if (round.is_complete) return "";
  return fmt::format("round {} has {} of the {} validated units that close it",
                     training.cursor.round, round.validated,
                     std::max(round.enough, 1U));
}

}  // namespace quorate

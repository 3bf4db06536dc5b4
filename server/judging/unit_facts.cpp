#include "server/judging/unit_facts.h"

#include <algorithm>

#include "server/sending/eligibility.h"
#include "server/units/states.h"
#include "validator/trust.h"

namespace quorate {

bool is_late(const ProjectState& state, const LiveUnit& live) {
  const TrainingRun& training = state.runs.at(live.unit.run);
  const bool has_round_closed =
      training.rule->in_rounds() && live.unit.round < training.cursor.round;
  return has_round_closed || live.unit.is_late;
}

std::vector<Replica> replicas_of(const ProjectState& state,
                                 const LiveUnit& live) {
  std::vector<Replica> replicas;
  for (const Result& result : live.results) {
    if (!may_count(result)) continue;
    Replica replica;
    replica.id = result.id;
    replica.user = result.user;
    replica.house = result.user == kHouseUser;
    replica.anchor = state.is_of_anchor(result);
    replica.has_payload = result.validate_state == ValidateState::init;
    replica.claim = result.claim;
    replicas.push_back(replica);
  }
  return replicas;
}

namespace {

bool is_any_checked(const ProjectState& state, RunKey run) {
  const auto& open = state.feeder.units_in(run, WorkunitState::open);
  return std::any_of(open.begin(), open.end(), [&](WorkunitId id) {
    return state.feeder.units().at(id).unit.check == UnitCheck::spot;
  });
}

}  // namespace

std::optional<UpdateBound::Excess> excess_of(const ProjectState& state,
                                             const LiveUnit& live,
                                             const Hash& update) {
  const UpdateBound& bound = state.runs.at(live.unit.run).bound;
  const auto size = live.sizes.find(update);
  if (size == live.sizes.end() || !bound.is_known()) return std::nullopt;
  return bound.excess_of(size->second);
}

UpdateLook look_at_update(const ProjectState& state, const LiveUnit& live,
                          const Hash& update) {
  if (excess_of(state, live, update)) return UpdateLook::unusual;
  const bool is_first = !state.runs.at(live.unit.run).bound.is_known() &&
                        state.has_referee() && live.sizes.contains(update);
  if (!is_first) return UpdateLook::usual;
  return is_any_checked(state, live.unit.run) ? UpdateLook::early
                                              : UpdateLook::first;
}

UnitFacts facts_of(const ProjectState& state, const LiveUnit& live) {
  const Run& run = state.runs.at(live.unit.run).run;
  UnitFacts facts;
  facts.replicas = replicas_of(state, live);
  for (const Result& result : live.results) {
    if (state.leases.is_slow(result.id)) facts.slow.push_back(result.id);
  }
  facts.run_quorum = run.quorum;
  facts.needs_anchor = state.needs_anchor(run);
  facts.is_late = is_late(state, live);
  facts.has_referee = state.has_referee();
  facts.has_volunteer = [&state, &live](bool anchor) {
    return Eligibility(state, live)
        .has_volunteer(anchor ? Eligibility::From::anchors
                              : Eligibility::From::anybody);
  };
  facts.look_at_update = [&state, &live](ResultId id) {
    const auto result =
        std::find_if(live.results.begin(), live.results.end(),
                     [id](const Result& one) { return one.id == id; });
    return look_at_update(state, live, result->update);
  };
  facts.draws_check = [&state] {
    return draws_check(state.trust.policy(), state.draw());
  };
  return facts;
}

}  // namespace quorate

// The decision about a unit as tables: its rows and some facts in, a step out.
#include "server/units/decision.h"

#include <vector>

#include <doctest/doctest.h>

namespace quorate {
namespace {

constexpr UserId kAnn = 11;  // not the house (1)
constexpr UserId kBob = 12;

Hash claim(std::uint8_t name) {
  Hash hash;
  hash.bytes[0] = name;
  return hash;
}

Result in_state(ResultId id, UserId user, ServerState state,
                ResultOutcome outcome = ResultOutcome::init) {
  Result result;
  result.id = id;
  result.user = user;
  result.host = user;
  result.server_state = state;
  result.outcome = outcome;
  return result;
}

Result unsent(ResultId id) {
  return in_state(id, 0, ServerState::unsent);
}

Result out(ResultId id, UserId user) {
  return in_state(id, user, ServerState::in_progress);
}

Result failed(ResultId id, UserId user) {
  return in_state(id, user, ServerState::over, ResultOutcome::client_error);
}

Result reported(ResultId id, UserId user, std::uint8_t said) {
  Result result = in_state(id, user, ServerState::over, ResultOutcome::success);
  result.claim = claim(said);
  return result;
}

// A unit with what is known of it; tests change what they are about.
struct Scene {
  Scene() {
    unit.id = 1;
    unit.min_quorum = unit.target_results = 2;
    facts.run_quorum = 2;
    facts.has_volunteer = [](bool) { return true; };
    facts.draws_check = [] { return false; };
    facts.look_at_update = [](ResultId) { return UpdateLook::usual; };
  }

  UnitDecision decide() {
    facts.replicas.clear();
    for (const Result& result : results) {
      const bool counts = result.outcome == ResultOutcome::success &&
                          result.validate_state == ValidateState::init;
      if (!counts) continue;
      Replica replica;
      replica.id = result.id;
      replica.user = result.user;
      replica.house = result.user == kHouseUser;
      replica.anchor = replica.house || result.user == kAnn;
      replica.claim = result.claim;
      facts.replicas.push_back(replica);
    }
    return quorate::decide(unit, results, facts);
  }
  UnitStep step() { return decide().step; }
  ClosingStep close(Closing why) {
    decide();  // gathers the replicas
    return decide_closing(unit, results, facts, why);
  }

  Workunit unit;
  std::vector<Result> results;
  UnitFacts facts;
};

}  // namespace

TEST_CASE("an open unit waits while as many as it wants are at work") {
  Scene scene;
  scene.results = {out(1, kAnn), out(2, kBob)};
  CHECK(scene.step() == UnitStep::wait);
  scene.results = {out(1, kAnn), unsent(2)};
  CHECK(scene.step() == UnitStep::wait);
}

TEST_CASE("a result that is lost is replaced") {
  Scene scene;
  scene.results = {out(1, kAnn), failed(2, kBob)};
  const UnitDecision decision = scene.decide();
  CHECK(decision.step == UnitStep::replicate);
  CHECK(decision.create == 1);
  CHECK_FALSE(decision.for_house);
}

TEST_CASE("a house worker gets what no volunteer may compute") {
  Scene scene;
  scene.facts.has_volunteer = [](bool) { return false; };
  scene.results = {out(1, kAnn), failed(2, kBob)};
  CHECK_FALSE(scene.decide().for_house);
  scene.facts.has_referee = true;
  CHECK(scene.decide().for_house);
}

TEST_CASE("members who agree are accepted; the oldest is canonical") {
  Scene scene;
  scene.results = {reported(1, kAnn, 7), reported(2, kBob, 7)};
  const UnitDecision decision = scene.decide();
  CHECK(decision.step == UnitStep::accept);
  CHECK(decision.quorum.canonical == 1);
  CHECK(decision.quorum.valid.size() == 2);
}

TEST_CASE("free keys do not vouch for each other where an anchor is needed") {
  Scene scene;
  scene.facts.needs_anchor = true;
  scene.results = {reported(1, kBob, 7), reported(2, 3, 7)};
  bool asked_for_anchor = false;
  scene.facts.has_volunteer = [&](bool anchor) {
    asked_for_anchor = anchor;
    return true;
  };
  CHECK(scene.step() == UnitStep::replicate);
  CHECK(asked_for_anchor);
  scene.results.push_back(reported(3, kAnn, 7));
  CHECK(scene.step() == UnitStep::accept);
}

TEST_CASE("one proven host's word is enough unless a check is drawn") {
  Scene scene;
  scene.unit.min_quorum = scene.unit.target_results = 1;
  scene.results = {reported(1, kAnn, 7)};
  CHECK(scene.step() == UnitStep::accept);
  int draws = 0;
  scene.facts.draws_check = [&] { return ++draws > 0; };
  CHECK(scene.step() == UnitStep::check);
  CHECK(draws == 1);
  // Nobody could make the check: it would hold up the run for ever.
  scene.facts.has_volunteer = [](bool) { return false; };
  CHECK(scene.step() == UnitStep::accept);
  CHECK(draws == 1);
  // What was drawn is not drawn again; without a referee the next volunteer's
  // result is the check.
  scene.unit.check = UnitCheck::spot;
  scene.unit.min_quorum = scene.unit.target_results = 2;
  CHECK(scene.step() == UnitStep::replicate);
}

TEST_CASE("an update that is far larger than others is checked") {
  Scene scene;
  UpdateLook look = UpdateLook::usual;
  scene.facts.look_at_update = [&](ResultId) { return look; };
  scene.results = {reported(1, kAnn, 7), reported(2, kBob, 7)};
  scene.facts.has_referee = true;
  CHECK(scene.step() == UnitStep::accept);
  look = UpdateLook::unusual;
  const UnitDecision decision = scene.decide();
  CHECK(decision.step == UnitStep::check);
  CHECK(decision.quorum.canonical == 1);
  look = UpdateLook::first;
  CHECK(scene.step() == UnitStep::check);
  look = UpdateLook::early;
  CHECK(scene.step() == UnitStep::wait);

  SUBCASE("not what a house worker computed") {
    look = UpdateLook::unusual;
    scene.results.push_back(reported(3, kHouseUser, 7));
    CHECK(scene.step() == UnitStep::accept);
  }
  SUBCASE("not what is not for the model") {
    look = UpdateLook::unusual;
    scene.facts.is_late = true;
    CHECK(scene.step() == UnitStep::accept);
  }
  SUBCASE("not by volunteers who have agreed already") {
    look = UpdateLook::unusual;
    scene.facts.has_referee = false;
    CHECK(scene.step() == UnitStep::accept);
  }
}

TEST_CASE("who alone made a large update is checked by another volunteer") {
  Scene scene;
  scene.facts.look_at_update = [](ResultId) { return UpdateLook::unusual; };
  scene.unit.min_quorum = scene.unit.target_results = 1;
  scene.results = {reported(1, kAnn, 7)};
  CHECK(scene.step() == UnitStep::check);
  scene.facts.has_volunteer = [](bool) { return false; };
  CHECK(scene.step() == UnitStep::accept);
}

TEST_CASE("a large update that no house worker can compute is not believed") {
  Scene scene;
  scene.facts.has_referee = true;
  scene.unit.check = UnitCheck::spot;
  scene.results = {reported(1, kAnn, 7), reported(2, kBob, 7)};
  for (ResultId id = 3; id < 3 + ResultId{kMostHouseErrors}; ++id) {
    scene.results.push_back(failed(id, kHouseUser));
  }
  CHECK(scene.step() == UnitStep::accept);
  scene.facts.look_at_update = [](ResultId) { return UpdateLook::unusual; };
  const UnitDecision decision = scene.decide();
  CHECK(decision.step == UnitStep::fail);
  CHECK(decision.reason.find("far larger") != std::string::npos);
}

TEST_CASE("a word that was believed alone is not when its host is not proven") {
  Scene scene;
  scene.unit.min_quorum = 1;
  scene.results = {reported(1, kBob, 7)};
  CHECK(scene.step() == UnitStep::replicate);
}

TEST_CASE("a house worker settles disputes, checks and divergence") {
  Scene scene;
  scene.facts.has_referee = true;
  scene.results = {reported(1, kAnn, 7), reported(2, kBob, 8)};
  UnitDecision decision = scene.decide();
  CHECK(decision.step == UnitStep::referee);
  CHECK(decision.create == 1);
  scene.results.push_back(unsent(3));
  CHECK(scene.decide().create == 0);
  scene.results.back() = out(3, kHouseUser);
  CHECK(scene.step() == UnitStep::wait);
  scene.results.back() = reported(3, kHouseUser, 8);
  decision = scene.decide();
  CHECK(decision.step == UnitStep::accept);
  CHECK(decision.quorum.invalid == std::vector<ResultId>{1});

  scene.results = {reported(1, kAnn, 7), reported(2, kBob, 7)};
  CHECK(scene.step() == UnitStep::accept);
  scene.unit.check = UnitCheck::spot;
  CHECK(scene.step() == UnitStep::referee);
  scene.unit.check = UnitCheck::none;
  for (Result& result : scene.results) {
    result.computed = ComputeOutcome::diverged;
  }
  CHECK(scene.step() == UnitStep::referee);
  scene.facts.has_referee = false;
  CHECK(scene.step() == UnitStep::accept);
}

TEST_CASE("a house worker that fails three times is not asked again") {
  Scene scene;
  scene.facts.has_referee = true;
  scene.unit.check = UnitCheck::spot;
  scene.results = {reported(1, kAnn, 7), reported(2, kBob, 7)};
  for (ResultId id = 3; id < 3 + ResultId{kMostHouseErrors}; ++id) {
    CHECK(scene.step() == UnitStep::referee);
    scene.results.push_back(failed(id, kHouseUser));
  }
  CHECK(scene.step() == UnitStep::accept);
}

TEST_CASE("a unit fails when too many failed at it and nobody settles it") {
  Scene scene;
  scene.unit.max_error_results = 1;
  scene.results = {failed(1, kAnn), failed(2, kBob)};
  const UnitDecision decision = scene.decide();
  CHECK(decision.step == UnitStep::fail);
  CHECK(decision.reason.find("2 results failed") == 0);
  scene.facts.has_referee = true;
  CHECK(scene.decide().for_house);
}

TEST_CASE("a late unit takes nobody new, and ends with those who are at work") {
  Scene scene;
  scene.facts.is_late = true;
  scene.results = {reported(1, kAnn, 7), out(2, kBob)};
  CHECK(scene.step() == UnitStep::wait);
  scene.results[1] = reported(2, kBob, 7);
  CHECK(scene.step() == UnitStep::accept);
  scene.results[1] = failed(2, kBob);
  CHECK(scene.step() == UnitStep::cancel);
}

TEST_CASE("after the verdict late results are judged, then the unit goes") {
  for (WorkunitState state : {WorkunitState::assimilated,
                              WorkunitState::credited, WorkunitState::cancelled,
                              WorkunitState::diverged, WorkunitState::failed}) {
    CAPTURE(name_of(state));
    Scene scene;
    scene.unit.state = state;
    scene.results = {reported(1, kAnn, 7), out(2, kBob)};
    CHECK(scene.step() == UnitStep::judge);
    scene.results[0].validate_state = ValidateState::valid;
    CHECK(scene.step() == UnitStep::wait);
    scene.results[1] = failed(2, kBob);
    CHECK(scene.step() == UnitStep::drop);
    scene.results.push_back(unsent(3));
    CHECK(scene.step() == UnitStep::drop);
  }
}

TEST_CASE("a validated unit stays until it is part of the model") {
  Scene scene;
  scene.unit.state = WorkunitState::validated;
  CHECK(scene.step() == UnitStep::wait);
}

TEST_CASE("closing: a dispute is settled, a report credited, the rest ends") {
  Scene scene;
  scene.results = {out(1, kAnn), unsent(2)};
  for (Closing why :
       {Closing::round_closed, Closing::branch_left, Closing::run_ended}) {
    CHECK(scene.close(why) == ClosingStep::cancel);
  }
  scene.results = {reported(1, kAnn, 7), out(2, kBob)};
  CHECK(scene.close(Closing::round_closed) == ClosingStep::credit);
  CHECK(scene.close(Closing::branch_left) == ClosingStep::cancel);
  scene.results[1] = failed(2, kBob);
  CHECK(scene.close(Closing::round_closed) == ClosingStep::cancel);

  scene.unit.check = UnitCheck::spot;
  CHECK(scene.close(Closing::round_closed) == ClosingStep::go_on);
  CHECK(scene.close(Closing::branch_left) == ClosingStep::cancel);
  scene.facts.has_referee = true;
  CHECK(scene.close(Closing::round_closed) == ClosingStep::judge);
  CHECK(scene.close(Closing::branch_left) == ClosingStep::judge);
  CHECK(scene.close(Closing::run_ended) == ClosingStep::cancel);

  scene.unit.check = UnitCheck::none;
  scene.results = {reported(1, kAnn, 7), reported(2, kBob, 8)};
  CHECK(scene.close(Closing::branch_left) == ClosingStep::judge);
  scene.unit.state = WorkunitState::validated;
  CHECK(scene.close(Closing::branch_left) == ClosingStep::cancel);
}

TEST_CASE("how many users' results a unit needs") {
  CHECK(results_needed(3, QuorumFor::proven) == 1);
  CHECK(results_needed(3, QuorumFor::unproven) == 3);
  CHECK(results_needed(1, QuorumFor::own_check) == 2);
}

}  // namespace quorate

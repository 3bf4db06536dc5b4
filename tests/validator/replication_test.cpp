#include "validator/replication.h"

#include <doctest/doctest.h>

namespace quorate {
namespace {

Workunit unit_of(std::uint32_t min_quorum, std::uint32_t target) {
  Workunit unit;
  unit.min_quorum = min_quorum;
  unit.target_results = target;
  unit.max_error_results = 3;
  unit.max_total_results = 8;
  return unit;
}

QuorumDecision missing(std::uint32_t count, bool disputed = false) {
  QuorumDecision decision;
  decision.missing = count;
  decision.is_disputed = disputed;
  return decision;
}

struct Row {
  const char* name;
  Instances now;
  std::uint32_t missing;
  bool volunteer_eligible;
  std::uint32_t create;
  bool wants_house;
  bool fails;
  bool has_house = false;
  bool disputed = false;
};

// Quorum 2, target 2, at most 3 errors and 8 instances.
const Row kRows[] = {
    {"a new unit gets its target", {}, 2, true, 2, false, false},
    {"both are out", {.in_progress = 2}, 2, true, 0, false, false},
    {"one reported, one out",
     {.in_progress = 1, .undecided = 1},
     1,
     true,
     0,
     false,
     false},
    {"one failed: replaced",
     {.in_progress = 1, .errors = 1},
     2,
     true,
     1,
     false,
     false},
    {"one was lost: replaced",
     {.undecided = 1, .no_reply = 1},
     1,
     true,
     1,
     false,
     false},
    {"two disagree: a third", {.undecided = 2}, 1, true, 1, false, false},
    {"two disagree and the third is out",
     {.in_progress = 1, .undecided = 2},
     1,
     true,
     0,
     false,
     false},
    {"four disagree, and there is no house: a fifth",
     {.undecided = 4},
     1,
     true,
     1,
     false,
     false,
     false,
     true},
    {"two disagree: the house is the referee",
     {.undecided = 2},
     1,
     true,
     1,
     true,
     false,
     true,
     true},
    {"the house gets the unsent one",
     {.unsent = 1, .undecided = 2},
     1,
     true,
     0,
     true,
     false,
     true,
     true},
    {"one more for the house while a volunteer still computes",
     {.in_progress = 1, .undecided = 2},
     1,
     true,
     1,
     true,
     false,
     true,
     true},
    {"the house is on it already",
     {.in_progress = 1, .undecided = 2, .house_in_progress = 1},
     1,
     true,
     0,
     false,
     false,
     true,
     true},
    {"nobody else may take it: the house",
     {.unsent = 1, .undecided = 1},
     1,
     false,
     0,
     true,
     false},
    {"nobody may take it, but nothing is to be sent",
     {.in_progress = 2},
     2,
     false,
     0,
     false,
     false},
    {"the last instance allowed goes to the house",
     {.undecided = 1, .errors = 2, .no_reply = 4},
     1,
     true,
     1,
     true,
     false},
    {"as many errors as allowed",
     {.unsent = 2, .errors = 3},
     2,
     true,
     0,
     false,
     false},
    {"one error too many", {.unsent = 2, .errors = 4}, 2, true, 0, false, true},
    {"no room is left and none is out",
     {.undecided = 1, .no_reply = 7},
     1,
     true,
     0,
     false,
     true},
    {"no room is left, but one is out",
     {.in_progress = 1, .no_reply = 7},
     2,
     true,
     0,
     false,
     false},
    {"room for one of the two that are missing",
     {.no_reply = 7},
     2,
     true,
     1,
     true,
     false},
};

TEST_CASE("a unit gets the results that its quorum still needs") {
  const Workunit unit = unit_of(2, 2);
  for (const Row& row : kRows) {
    CAPTURE(row.name);
    const ReplicationDecision decision =
        more_results_wanted(unit, row.now, missing(row.missing, row.disputed),
                            row.volunteer_eligible, row.has_house);
    CHECK(decision.create == row.create);
    CHECK(decision.wants_house == row.wants_house);
    CHECK(decision.failure.empty() == !row.fails);
  }
}

TEST_CASE("a unit may be replicated beyond its quorum") {
  const Workunit unit = unit_of(1, 3);
  CHECK(more_results_wanted(unit, {.in_progress = 1}, missing(1), true, false)
            .create == 2);
  CHECK(more_results_wanted(unit, {.undecided = 2}, missing(0), true, false)
            .create == 1);
}

TEST_CASE("a failure says what was tried") {
  const Workunit unit = unit_of(2, 2);
  CHECK(more_results_wanted(unit, {.errors = 4}, missing(2), true, false)
            .failure == "4 results failed, 3 are allowed");
  CHECK(more_results_wanted(unit, {.undecided = 1, .no_reply = 7}, missing(1),
                            true, false)
            .failure ==
        "8 results were made, 8 are allowed, and no 2 of them agree");
}

TEST_CASE("results are counted by what became of them") {
  // given one result in each state
  std::vector<Result> results;
  auto add = [&](ServerState state, ResultOutcome outcome, UserId user) {
    Result result;
    result.server_state = state;
    result.outcome = outcome;
    result.user = user;
    results.push_back(result);
  };
  add(ServerState::unsent, ResultOutcome::init, 0);
  add(ServerState::in_progress, ResultOutcome::init, 7);
  add(ServerState::in_progress, ResultOutcome::init, kHouseUser);
  add(ServerState::over, ResultOutcome::success, 7);
  add(ServerState::over, ResultOutcome::client_error, 8);
  add(ServerState::over, ResultOutcome::validate_error, 9);
  add(ServerState::over, ResultOutcome::no_reply, 10);
  add(ServerState::over, ResultOutcome::didnt_need, 11);
  // when they are counted
  const Instances instances = count_instances(results);
  // then each is in its place
  CHECK(instances == Instances{.unsent = 1,
                               .in_progress = 2,
                               .undecided = 1,
                               .errors = 2,
                               .no_reply = 1,
                               .unneeded = 1,
                               .house_in_progress = 1});
  CHECK(instances.total() == 8);
}

TEST_CASE("a backup is made for a slow result, and the house ends the wait") {
  using Decision = ReplicationDecision;
  Workunit unit = unit_of(1, 1);
  // Nobody is late; one is; its backup is out; that is late, too.
  CHECK(more_results_wanted(unit, {.in_progress = 1}, missing(1), true, true) ==
        Decision{0, false, ""});
  CHECK(more_results_wanted(unit, {.in_progress = 1, .slow = 1}, missing(1),
                            true, true) == Decision{1, false, ""});
  CHECK(more_results_wanted(unit, {.in_progress = 2, .slow = 1}, missing(1),
                            true, true) == Decision{0, false, ""});
  CHECK(more_results_wanted(unit, {.in_progress = 2, .slow = 2}, missing(1),
                            true, true) == Decision{1, true, ""});
  CHECK(more_results_wanted(
            unit, {.in_progress = 3, .slow = 2, .house_in_progress = 1},
            missing(1), true, true) == Decision{0, false, ""});
  // No more than are allowed in all; a late one is hope enough.
  unit.max_total_results = 2;
  CHECK(more_results_wanted(unit, {.in_progress = 2, .slow = 2}, missing(1),
                            true, false) == Decision{0, false, ""});
  std::vector<Result> results(2);
  for (Result& result : results) result.server_state = ServerState::in_progress;
  results[1].id = 7;
  const std::vector<ResultId> slow = {7};
  CHECK(count_instances(results, slow) ==
        Instances{.in_progress = 2, .slow = 1});
  CHECK(count_instances(results, slow).outstanding() == 1);
  CHECK(count_instances(results, slow).total() == 2);
}

TEST_CASE("a unit that many volunteers failed at goes to the house") {
  Workunit unit = unit_of(2, 2);
  using Decision = ReplicationDecision;
  CHECK(more_results_wanted(unit, {.in_progress = 1, .errors = 4}, missing(2),
                            true, true) == Decision{1, true, ""});
  CHECK(more_results_wanted(unit, {.unsent = 1, .errors = 4}, missing(2), true,
                            true) == Decision{0, true, ""});
  CHECK(more_results_wanted(
            unit, {.in_progress = 1, .errors = 4, .house_in_progress = 1},
            missing(2), true, true) == Decision{0, false, ""});
  CHECK_FALSE(more_results_wanted(unit, {.errors = 5, .house_errors = 1},
                                  missing(2), true, true)
                  .failure.empty());
}

}  // namespace
}  // namespace quorate

#include "workunits/workunit.h"

#include <set>

#include <doctest/doctest.h>

#include "workunits/assignment.h"

namespace quorate {
namespace {

// True if every state has a name of its own.
template <class State>
bool are_distinct(std::initializer_list<State> states) {
  std::set<std::string_view> names;
  for (State state : states) names.insert(name_of(state));
  return names.size() == states.size() && !names.contains("");
}

}  // namespace

TEST_CASE("states have distinct names") {
  CHECK(are_distinct({RunState::running, RunState::paused, RunState::finished,
                      RunState::stopped}));
  CHECK(are_distinct({WorkunitState::open, WorkunitState::validated,
                      WorkunitState::assimilated, WorkunitState::credited,
                      WorkunitState::cancelled, WorkunitState::diverged,
                      WorkunitState::failed}));
  CHECK(are_distinct(
      {ServerState::unsent, ServerState::in_progress, ServerState::over}));
  CHECK(
      are_distinct({ResultOutcome::init, ResultOutcome::success,
                    ResultOutcome::client_error, ResultOutcome::no_reply,
                    ResultOutcome::didnt_need, ResultOutcome::validate_error}));
  CHECK(are_distinct({ValidateState::init, ValidateState::valid,
                      ValidateState::invalid, ValidateState::error,
                      ValidateState::inconclusive, ValidateState::too_late}));
  CHECK(are_distinct({ObjectKind::workunit, ObjectKind::snapshot,
                      ObjectKind::shard, ObjectKind::update,
                      ObjectKind::program}));
}

TEST_CASE("names are those of the states") {
  CHECK(name_of(RunState::paused) == "paused");
  CHECK(name_of(WorkunitState::credited) == "credited");
  CHECK(name_of(ServerState::in_progress) == "in_progress");
  CHECK(name_of(ResultOutcome::no_reply) == "no_reply");
  CHECK(name_of(ValidateState::too_late) == "too_late");
}

}  // namespace quorate

#include "server/units/states.h"

#include <set>
#include <utility>

#include <doctest/doctest.h>

namespace quorate {

TEST_CASE("which state of a unit may follow which") {
  using S = WorkunitState;
  const std::set<std::pair<S, S>> allowed = {
      {S::open, S::validated},      {S::open, S::credited},
      {S::open, S::diverged},       {S::open, S::failed},
      {S::open, S::cancelled},      {S::validated, S::assimilated},
      {S::validated, S::cancelled}, {S::validated, S::open},
  };
  const auto all = {S::open,      S::validated, S::assimilated, S::credited,
                    S::cancelled, S::diverged,  S::failed};
  for (S from : all) {
    for (S to : all) {
      CAPTURE(name_of(from));
      CAPTURE(name_of(to));
      CHECK(may_become(from, to) == allowed.contains({from, to}));
    }
  }
}

TEST_CASE("a unit knows when it was judged, closed and checked") {
  Workunit unit;
  set_state(unit, WorkunitState::validated, 1000);
  CHECK(unit.judged == 1000);
  CHECK(unit.closed == 0);
  set_state(unit, WorkunitState::assimilated, 2000);
  CHECK(unit.judged == 1000);
  CHECK(unit.closed == 2000);
  set_check(unit, UnitCheck::recheck, 3000);
  set_check(unit, UnitCheck::sound, 4000);
  CHECK(unit.checked == 4000);
  set_check(unit, UnitCheck::none, 5000);
  CHECK(unit.checked == 0);

  Workunit failed;
  set_state(failed, WorkunitState::failed, 6000);
  CHECK(failed.judged == 6000);
  CHECK(failed.closed == 6000);
}

TEST_CASE("a result goes out, ends, and counts once it was accepted") {
  Host host;
  host.id = 5;
  host.user_id = 6;
  Result result;
  CHECK_FALSE(may_report(result));
  mark_sent(result, host, 1000);
  CHECK(result.server_state == ServerState::in_progress);
  CHECK(result.host == 5);
  CHECK(result.user == 6);
  CHECK(result.sent == 1000);
  CHECK(may_report(result));
  CHECK_FALSE(may_count(result));

  Result lost = result;
  mark_ended(lost, ResultOutcome::no_reply, "silent");
  CHECK(may_report(lost));  // it is judged all the same
  mark_reported(lost, 2000, true);
  CHECK(lost.reason.empty());
  CHECK(may_count(lost));
  CHECK_FALSE(may_report(lost));
  set_verdict(lost, ValidateState::inconclusive);
  CHECK(may_count(lost));
  set_verdict(lost, ValidateState::valid);
  CHECK_FALSE(may_count(lost));

  Result refused = result;
  mark_reported(refused, 2000, false);
  CHECK(refused.outcome == ResultOutcome::validate_error);
  CHECK_FALSE(may_count(refused));

  Result given_up = result;
  mark_ended(given_up, ResultOutcome::client_error, "no memory");
  CHECK_FALSE(may_report(given_up));
  mark_forgiven(given_up, "damage");
  CHECK(given_up.outcome == ResultOutcome::didnt_need);
  CHECK(given_up.reason == "damage");
}

}  // namespace quorate

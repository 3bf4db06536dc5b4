#include "server/units/states.h"

#include "base/error.h"

namespace quorate {

bool may_become(WorkunitState from, WorkunitState to) {
  switch (from) {
    case WorkunitState::open:
      return to != WorkunitState::open && to != WorkunitState::assimilated;
    case WorkunitState::validated:
      return to == WorkunitState::assimilated ||
             to == WorkunitState::cancelled || to == WorkunitState::open;
    case WorkunitState::assimilated:
    case WorkunitState::credited:
    case WorkunitState::cancelled:
    case WorkunitState::diverged:
    case WorkunitState::failed:
      return false;
  }
  return false;
}

bool is_final(WorkunitState state) {
  return state != WorkunitState::open && state != WorkunitState::validated;
}

void set_state(Workunit& unit, WorkunitState to, Millis now) {
  check(may_become(unit.state, to), "a unit takes a step that is not allowed");
  if (unit.state == WorkunitState::open) unit.judged = now;
  if (is_final(to)) unit.closed = now;
  unit.state = to;
}

void set_check(Workunit& unit, UnitCheck check, Millis now) {
  unit.check = check;
  unit.checked = check == UnitCheck::none ? 0 : now;
}

void set_quorum(Workunit& unit, std::uint32_t users) {
  const std::uint32_t beyond = unit.target_results - unit.min_quorum;
  unit.min_quorum = users;
  unit.target_results = users + beyond;
}

void want_more(Workunit& unit, std::uint32_t results) {
  unit.target_results += results;
}

void allow_more(Workunit& unit, std::uint32_t results) {
  unit.max_total_results += results;
}

void reopen(Workunit& unit) {
  check(may_become(unit.state, WorkunitState::open),
        "a verdict is taken back that there is not");
  unit.state = WorkunitState::open;
  unit.judged = 0;
  unit.canonical_result = 0;
  unit.is_unverified = false;
}

void mark_late(Workunit& unit) {
  unit.is_late = true;
}

void mark_unverified(Workunit& unit) {
  unit.is_unverified = true;
}

void mark_sent(Result& result, const Host& host, Millis now) {
  check(result.server_state == ServerState::unsent,
        "a result is sent that was sent before");
  result.server_state = ServerState::in_progress;
  result.host = host.id;
  result.user = host.user_id;
  result.sent = now;
}

void mark_ended(Result& result, ResultOutcome outcome,
                const std::string& reason) {
  check(result.server_state != ServerState::over, "a result ends twice");
  result.server_state = ServerState::over;
  result.outcome = outcome;
  result.reason = reason;
}

void mark_reported(Result& result, Millis now, bool accepted) {
  check(may_report(result), "a report of a result that is closed is stored");
  result.server_state = ServerState::over;
  result.received = now;
  result.outcome =
      accepted ? ResultOutcome::success : ResultOutcome::validate_error;
  if (accepted) result.reason.clear();
}

void mark_forgiven(Result& result, const std::string& reason) {
  check(result.server_state == ServerState::over,
        "a result is forgiven that has not ended");
  result.outcome = ResultOutcome::didnt_need;
  result.reason = reason;
}

void set_verdict(Result& result, ValidateState verdict,
                 const std::string& reason) {
  result.validate_state = verdict;
  if (!reason.empty()) result.reason = reason;
}

void mark_refused(Result& result) {
  check(result.outcome == ResultOutcome::success,
        "a result is refused that was not accepted");
  result.outcome = ResultOutcome::validate_error;
}

bool may_count(const Result& result) {
  return result.outcome == ResultOutcome::success &&
         (result.validate_state == ValidateState::init ||
          result.validate_state == ValidateState::inconclusive);
}

bool has_payload(const Result& result) {
  return result.outcome == ResultOutcome::success &&
         result.validate_state == ValidateState::init &&
         result.computed == ComputeOutcome::success;
}

bool may_report(const Result& result) {
  return result.server_state == ServerState::in_progress ||
         result.outcome == ResultOutcome::no_reply;
}

}  // namespace quorate

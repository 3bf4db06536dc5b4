#include "server/judging/consequences.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/log.h"
#include "server/units/states.h"

namespace quorate {
namespace {

const char* event_of(HostMark mark) {
  switch (mark) {
    case HostMark::none:
      return "host_pardoned";
    case HostMark::trusted:
      return "host_trusted";
    case HostMark::watched:
      return "host_watched";
    case HostMark::banned:
      return "host_banned";
  }
  return "host_marked";
}

bool is_banned_with_user(const Host& host) {
  return host.mark == HostMark::banned &&
         host.mark_reason.starts_with(kAccountBanned);
}

bool has_valid_result_of(const LiveUnit& live, HostId host) {
  return std::any_of(live.results.begin(), live.results.end(),
                     [host](const Result& result) {
                       return result.host == host &&
                              result.validate_state == ValidateState::valid;
                     });
}

}  // namespace

void Consequences::on_false(HostId id, RunKey run, const std::string& what) {
  Host& host = *state_.hosts.host(id);
  if (host.user_id == kHouseUser) return;
  ++host.false_results;
  state_.trust.reset(id);
  if (host.mark != HostMark::banned) {
    set_mark(host, mark_after_false(state_.trust.policy(), host.false_results),
             what, run);
  }
  state_.hosts.changed(id);
  recheck_work_of(id);
}

void Consequences::on_vouched(const Result& result) {
  const Host& host = *state_.hosts.host(result.host);
  const ResultHeader header = decode_result_header(result.header.bytes);
  // Signed before its key changed: whoever has the key now did not earn it.
  if (header.host != host.key) return;
  const bool was_proven =
      state_.trust.standing(host, header) == Standing::proven;
  state_.trust.count(host.id, header, state_.clock.now());
  if (was_proven || state_.trust.standing(host, header) != Standing::proven) {
    return;
  }
  state_.record("host_proven", result.run, host.id,
                fmt::format("{}: {} units on {} were validated", host.name,
                            state_.trust.validated(host.id), header.device));
}

void Consequences::recheck_work_of(HostId host) {
  for (auto& [key, training] : state_.runs) {
    if (!training.is_active()) continue;
    cancel_validated(training, host, true);
    std::size_t count = 0;
    for (Workunit& unit : state_.store.workunits_with(key, host, true)) {
      save_check(std::move(unit), UnitCheck::recheck);
      ++count;
    }
    if (count == 0) continue;
    state_.record("recheck_begun", key, host,
                  fmt::format("{} units that it took part in", count));
  }
}

void Consequences::cancel_validated(const TrainingRun& training, HostId host,
                                    bool unchecked) {
  const std::set<WorkunitId> validated =
      state_.feeder.units_in(training.run.key, WorkunitState::validated);
  for (WorkunitId id : validated) {
    LiveUnit& live = *state_.feeder.find(id);
    if (unchecked && live.unit.check == UnitCheck::sound) continue;
    if (!has_valid_result_of(live, host)) continue;
    set_state(live.unit, WorkunitState::cancelled, state_.clock.unix_ms());
    forget_recheck(state_.run(training.run.key), live.unit);
    state_.feeder.save(live);
    state_.due.units.insert(id);
  }
}

void Consequences::forget_recheck(TrainingRun& training, Workunit& unit) {
  if (training.to_recheck.erase(unit.id) > 0) {
    set_check(unit, UnitCheck::none, state_.clock.unix_ms());
  }
}

void Consequences::save_check(Workunit unit, UnitCheck check) {
  set_check(unit, check, state_.clock.unix_ms());
  if (LiveUnit* live = state_.feeder.find(unit.id)) {
    set_check(live->unit, check, state_.clock.unix_ms());
    state_.feeder.save(*live);
  } else {
    state_.store.update_workunits({&unit, 1});
  }
  TrainingRun& training = state_.run(unit.run);
  training.to_recheck.erase(unit.id);
  training.to_revoke.erase(unit.id);
  if (check == UnitCheck::recheck) training.to_recheck.insert(unit.id);
  if (check == UnitCheck::unsound) training.to_revoke.insert(unit.id);
}

void Consequences::found_sound(const Workunit& unit) {
  save_check(unit, UnitCheck::sound);
  const Hash claim = state_.store.result(unit.canonical_result).value().claim;
  for (const Result& result : state_.store.results_of({&unit.id, 1})) {
    const bool disagrees = result.outcome == ResultOutcome::success &&
                           result.validate_state == ValidateState::too_late &&
                           result.claim != claim;
    if (!disagrees) continue;
    const std::string what = fmt::format(
        "result {} of unit {}: disagrees with result {}, which was rechecked",
        result.id, unit.unit_index, unit.canonical_result);
    make_invalid(result, what);
    on_false(result.host, unit.run, what);
  }
}

void Consequences::found_false(const Workunit& unit, const std::string& what) {
  save_check(unit, UnitCheck::unsound);
  for (const Result& result : state_.store.results_of({&unit.id, 1})) {
    if (result.validate_state != ValidateState::valid) continue;
    withdraw(result, what);
    on_false(result.host, unit.run,
             fmt::format("result {} of unit {}: {}", result.id, unit.unit_index,
                         what));
  }
}

void Consequences::revoked(const Workunit& unit) {
  save_check(unit, UnitCheck::revoked);
}

void Consequences::revoke(const Workunit& unit, const std::string& reason) {
  save_check(unit, UnitCheck::unsound);
  for (const Result& result : state_.store.results_of({&unit.id, 1})) {
    if (result.validate_state == ValidateState::valid) withdraw(result, reason);
  }
}

void Consequences::take_credit(Result& result) {
  Host& host = *state_.hosts.host(result.host);
  state_.hosts.add_credit(host.id, -result.credit, result.received,
                          state_.clock.unix_ms());
  --host.valid;
  state_.hosts.changed(host.id);
  result.credit = 0;
}

// It had been valid: no longer, and its credit is taken back.
void Consequences::withdraw(Result result, const std::string& reason) {
  take_credit(result);
  make_invalid(std::move(result), reason);
}

void Consequences::make_invalid(Result result, const std::string& reason) {
  ++state_.hosts.host(result.host)->invalid;
  state_.hosts.changed(result.host);
  set_verdict(result, ValidateState::invalid, reason);
  LiveUnit* live = state_.feeder.find_by_result(result.id);
  if (live != nullptr) *live->find(result.id) = result;
  state_.store.update_results({&result, 1});
  state_.record("result_rejected", result.run, result.host,
                fmt::format("result {}: {}", result.id, reason));
}

void Consequences::set_mark(Host& host, HostMark mark,
                            const std::string& reason, RunKey run) {
  host.mark = mark;
  host.mark_reason = reason;
  state_.hosts.changed(host.id);
  if (mark != HostMark::trusted) state_.due.fallen.insert(host.id);
  state_.record(event_of(mark), run, host.id,
                fmt::format("{}: {}", host.name, reason));
}

void Consequences::trust(Host& host, const std::string& reason) {
  set_mark(host, HostMark::trusted, reason, 0);
}

void Consequences::ban(Host& host, const std::string& reason) {
  set_mark(host, HostMark::banned, reason, 0);
  state_.trust.reset(host.id);
}

void Consequences::pardon(Host& host, const std::string& reason) {
  host.false_results = 0;
  set_mark(host, HostMark::none, reason, 0);
  state_.trust.reset(host.id);
}

void Consequences::ban_user(UserId user, const std::string& reason) {
  state_.hosts.set_ban_reason(user, reason);
  state_.record("user_banned", 0, 0, fmt::format("user {}: {}", user, reason));
  for (HostId id : state_.hosts.hosts_of(user)) {
    Host& host = *state_.hosts.host(id);
    if (host.mark == HostMark::banned && !is_banned_with_user(host)) continue;
    ban(host, std::string(kAccountBanned) + reason);
  }
}

void Consequences::pardon_user(UserId user, const std::string& reason) {
  state_.hosts.set_ban_reason(user, "");
  state_.record("user_pardoned", 0, 0,
                fmt::format("user {}: {}", user, reason));
  for (HostId id : state_.hosts.hosts_of(user)) {
    Host& host = *state_.hosts.host(id);
    if (is_banned_with_user(host)) pardon(host, reason);
  }
}

void Consequences::delete_user(UserId user) {
  state_.hosts.delete_user(user, state_.clock.unix_ms());
  state_.store.forget_user(user);
  state_.record("user_deleted", 0, 0, fmt::format("user {}", user));
  for (HostId id : state_.hosts.hosts_of(user)) {
    state_.sites.note(id, Hash{}, "", state_.clock.now());
    ban(*state_.hosts.host(id), "its account was deleted");
    state_.trust.forget(id);
  }
}

std::size_t Consequences::purge(Host& host, const std::string& reason) {
  ban(host, reason);
  std::size_t count = 0;
  for (auto& [key, training] : state_.runs) {
    if (!training.is_active()) continue;
    cancel_validated(training, host.id, false);
    for (Workunit& unit : state_.store.workunits_with(key, host.id, false)) {
      std::optional<Result> merged = state_.store.result(unit.canonical_result);
      if (!merged || merged->host != host.id) continue;
      withdraw(*merged, std::string(kPurged) + reason);
      save_check(std::move(unit), UnitCheck::unsound);
      ++count;
    }
  }
  return count;
}

}  // namespace quorate

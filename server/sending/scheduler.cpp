#include "server/sending/scheduler.h"

#include <algorithm>
#include <utility>

#include "base/log.h"
#include "server/sending/host_draw.h"
#include "validator/replication.h"

namespace quorate {
namespace {

bool holds(const WorkWish& wish, ResultId id) {
  return std::find(wish.holding.begin(), wish.holding.end(), id) !=
         wish.holding.end();
}

// Its lease ran out while the unit is still open: what the host computes may
// yet make the quorum.
bool is_late_but_welcome(const LiveUnit& live, const Result& result) {
  return result.outcome == ResultOutcome::no_reply &&
         live.unit.state == WorkunitState::open;
}

bool has_unsent(const LiveUnit& live) {
  return std::any_of(
      live.results.begin(), live.results.end(),
      [](const Result& r) { return r.server_state == ServerState::unsent; });
}

// Of another result of the unit, to anybody.
bool was_sent(const LiveUnit& live) {
  return std::any_of(live.results.begin(), live.results.end(),
                     [](const Result& r) { return r.host != 0; });
}

// When to ask again a server that is leaving.
constexpr Seconds kClosedRetry{1};

}  // namespace

Scheduler::Scheduler(ProjectState& state, UnitMaker& maker, Writer& writer)
    : state_(state), maker_(maker), writer_(writer), sizes_(state.objects) {
  const Instant back = state_.clock.now() + state_.time_to_come_back();
  for (ResultId id : state_.feeder.unsent()) {
    // Whom a partner of results that are out was drawn for is forgotten. The
    // hosts have until then to come back and be drawn from: were it free at
    // once, whoever is first could choose whom to vouch for.
    if (was_sent(*state_.feeder.find_by_result(id))) {
      state_.reservations.hold(id, back);
    } else {
      state_.reservations.release(id);
    }
  }
}

void Scheduler::request_work(HostId id, const WorkWish& wish, Send send) {
  // A host that asks again has given up its first question.
  auto earlier = waiting_.find(id);
  if (earlier != waiting_.end()) {
    send_later(std::move(earlier->second.send),
               std::move(earlier->second.answer));
    waiting_.erase(earlier);
  }
  Host& host = *state_.hosts.host(id);
  state_.hosts.note_machine(host, wish.device, wish.speed_flops);
  WorkAnswer answer;
  renew(host, wish, answer);
  resend_lost(host, wish, answer.assignments);
  pick(host, wish, answer.assignments);
  if (is_closed_) answer.retry_after = kClosedRetry;
  if (!answer.is_empty() || is_closed_ || wish.want == 0 ||
      wish.wait.count() <= 0) {
    send_later(std::move(send), std::move(answer));
    return;
  }
  waiting_[id] = {wish, std::move(answer), state_.clock.now() + wish.wait,
                  ++last_turn_, std::move(send)};
}

void Scheduler::request_more_work(HostId id, const WorkWish& wish, Send send) {
  Host& host = *state_.hosts.host(id);
  state_.hosts.note_machine(host, wish.device, wish.speed_flops);
  WorkAnswer answer;
  pick(host, wish, answer.assignments);
  if (is_closed_) answer.retry_after = kClosedRetry;
  send_later(std::move(send), std::move(answer));
}

// However alive the host: the unit must not wait for it for ever.
Seconds Scheduler::most_time(const LiveUnit& live, Seconds lease) const {
  constexpr double kPatience = 10;
  Seconds typical = state_.run(live.unit.run).typical_time;
  return typical == Seconds(0) ? kPatience * lease
                               : std::max(lease, kPatience * typical);
}

void Scheduler::renew_lease(const LiveUnit& live, const Host& host,
                            ResultId result) {
  const Seconds lease = state_.terms(host).lease;
  state_.leases.renew(result, state_.clock.now(), lease,
                      most_time(live, lease));
}

void Scheduler::heartbeat(HostId id, const WorkWish& wish, Send send) {
  WorkAnswer answer;
  renew(*state_.hosts.host(id), wish, answer);
  send_later(std::move(send), std::move(answer));
}

void Scheduler::renew(const Host& host, const WorkWish& wish,
                      WorkAnswer& answer) {
  state_.hosts.touch(*state_.hosts.host(host.id), state_.clock.now(),
                     state_.clock.unix_ms());
  constexpr unsigned kMostLookups = 32;
  unsigned looked_up = 0;
  for (ResultId id : wish.holding) {
    LiveUnit* live = state_.feeder.find_by_result(id);
    const Result* result = live ? live->find(id) : nullptr;
    if (result != nullptr && result->host == host.id) {
      if (result->server_state == ServerState::in_progress) {
        renew_lease(*live, host, result->id);
      } else if (result->outcome != ResultOutcome::success &&
                 !is_late_but_welcome(*live, *result)) {
        answer.cancel.push_back(result->id);
      }
      continue;
    }
    if (state_.open_results.is_on_hold(id, host.id)) continue;
    // Honest hosts have a few of these; the others' turn is the next time.
    if (++looked_up > kMostLookups) continue;
    // Not live: judged, given up, or never ours. Only a reported result has a
    // payload that may now be forgotten; the rest is to be stopped.
    std::optional<Result> old = state_.store.result(id);
    bool is_reported =
        old && old->host == host.id && old->outcome == ResultOutcome::success;
    (is_reported ? answer.closed : answer.cancel).push_back(id);
  }
}

void Scheduler::resend_lost(const Host& host, const WorkWish& wish,
                            std::vector<Assignment>& out) {
  for (ResultId id : state_.feeder.in_progress(host.id)) {
    if (out.size() >= wish.want) return;
    if (holds(wish, id)) continue;
    LiveUnit* live = state_.feeder.find_by_result(id);
    std::vector<ObjectRef> objects = objects_of(*live);
    if (objects.empty()) continue;
    out.push_back(assignment_of(*live, *live->find(id), std::move(objects)));
    renew_lease(*live, host, id);
    log_debug("result sent again", {{"result", id}, {"host", host.id}});
  }
}

// Whoever has shown nothing yet gets one to compute and one to go on with: what
// it never signs lies on the disk until it closes, and accounts cost nothing.
std::size_t Scheduler::most_results(HostId host) const {
  constexpr std::uint32_t kNew = 2;
  const auto& settings = state_.settings;
  // Where there is nobody to become proven by, hosts stay new for ever.
  const bool is_new = state_.has_referee() && settings.trust_proven_after > 0 &&
                      !state_.is_anchor(host);
  return is_new ? std::min(kNew, settings.max_results_per_host)
                : settings.max_results_per_host;
}

void Scheduler::pick(Host& host, const WorkWish& wish,
                     std::vector<Assignment>& out) {
  if (state_.rests.is_resting(host.id, state_.clock.now())) return;
  if (state_.is_banned(host.id)) return;
  const std::size_t most = most_results(host.id);
  while (out.size() < wish.want &&
         state_.feeder.in_progress(host.id).size() < most) {
    std::optional<Assignment> sent = send_next(host, wish);
    if (!sent) return;
    out.push_back(std::move(*sent));
  }
}

std::optional<Assignment> Scheduler::send_next(const Host& host,
                                               const WorkWish& wish) {
  const Device device{wish.device, wish.speed_flops};
  for (Turn turn : {Turn::shared, Turn::spare}) {
    // Units under way first, whose turn it may be: their runs wait for them.
    // What they take counts, so new units make up for it.
    if (Result* result = unsent_for(host, wish, turn)) {
      return send(*state_.feeder.find(result->workunit), *result, host, device);
    }
    if (LiveUnit* live = make_unit(host, wish, turn)) {
      return send_new(*live, host, device);
    }
  }
  return std::nullopt;
}

std::optional<Assignment> Scheduler::send_new(LiveUnit& live, const Host& host,
                                              const Device& device) {
  std::optional<Assignment> sent =
      send(live, live.results.front(), host, device);
  if (!sent) {
    for (const Result& r : live.results) state_.reservations.release(r.id);
    return std::nullopt;
  }
  for (std::size_t i = 1; i < live.results.size(); ++i) {
    reserve(live, live.results[i].id);
  }
  return sent;
}

Result* Scheduler::unsent_for(const Host& host, const WorkWish& wish,
                              Turn turn) {
  const Reservations& reservations = state_.reservations;
  auto suits_host = [&](const LiveUnit& live, ResultId result) {
    return Eligibility(state_, live).may(host, taker_of(live, result));
  };
  for (const std::set<ResultId>* unsent :
       {&reservations.kept_for(host.id), &reservations.anybodys()}) {
    if (Result* result = first_of(*unsent, turn, suits_host)) return result;
  }
  return first_of(
      reservations.anybodys(), turn, [&](const LiveUnit& live, ResultId id) {
        return may_take_again(live, host, wish) &&
               !Eligibility(state_, live).has_volunteer(taker_of(live, id));
      });
}

template <class Suits>
Result* Scheduler::first_of(const std::set<ResultId>& unsent, Turn turn,
                            Suits suits) {
  for (ResultId id : unsent) {
    LiveUnit* live = state_.feeder.find_by_result(id);
    const Run& run = state_.run(live->unit.run).run;
    if (run.state != RunState::running || turn_of(run) != turn) continue;
    if (is_wanted_by_house(live->unit.id)) continue;
    if (suits(*live, id)) return live->find(id);
  }
  return nullptr;
}

// It lost its result of this unit, perhaps before it ever came, and there is
// nobody else: the unit must not wait for a stranger for ever.
bool Scheduler::may_take_again(const LiveUnit& live, const Host& host,
                               const WorkWish& wish) const {
  const bool has_lost_one = std::any_of(
      live.results.begin(), live.results.end(), [&](const Result& result) {
        return result.user == host.user_id &&
               result.outcome == ResultOutcome::no_reply;
      });
  if (!has_lost_one || !Eligibility(state_, live, true).suits(host.user_id)) {
    return false;
  }
  bool computes_still = std::any_of(
      live.results.begin(), live.results.end(), [&](const Result& result) {
        return result.host == host.id && holds(wish, result.id);
      });
  return !computes_still;
}

LiveUnit* Scheduler::make_unit(const Host& host, const WorkWish& wish,
                               Turn turn) {
  LiveUnit* live = maker_.make(
      {host.id, wish.speed_flops, state_.is_anchor(host.id), wish.shards},
      turn);
  if (live != nullptr) {
    log_debug("unit made", {{"unit", live->unit.id},
                            {"version", live->unit.base_version},
                            {"host", host.id}});
  }
  return live;
}

void Scheduler::reserve(LiveUnit& live, ResultId result) {
  const bool anchor = wants_anchor(live, result);
  std::optional<HostId> host =
      draw_host_for(state_, live, result, waiting_, anchor);
  is_awake_ = true;
  if (!host) {
    state_.reservations.release(result);
    if (anchor && state_.has_referee()) wants_house(live.unit.id);
    return;
  }
  // An anchor is drawn once: were it drawn again whenever it is slow to come,
  // those who wait idle for it would be favoured.
  const DoorTerms terms = state_.terms(*state_.hosts.host(*host));
  state_.reservations.keep(
      result, *host,
      state_.clock.now() +
          (anchor ? terms.anchor_reservation : terms.reservation));
}

void Scheduler::serve_waiting() {
  const std::set<HostId> freed = state_.feeder.take_freed();
  if (!is_awake_) {
    for (HostId id : freed) serve(id);  // they may have had as many as they may
  }
  // A unit made for one host brings replicas for others that wait, perhaps for
  // one that was looked at already.
  while (std::exchange(is_awake_, false)) serve_each_waiting();
}

void Scheduler::serve_each_waiting() {
  // Where there is work for some only, those who have waited longest get it.
  std::vector<std::pair<std::uint64_t, HostId>> in_turn;
  in_turn.reserve(waiting_.size());
  for (const auto& [id, waiting] : waiting_) {
    in_turn.emplace_back(waiting.turn, id);
  }
  std::sort(in_turn.begin(), in_turn.end());
  for (const auto& [turn, id] : in_turn) serve(id);
}

void Scheduler::serve(HostId id) {
  const auto found = waiting_.find(id);
  if (found == waiting_.end()) return;
  WaitingHost& waiting = found->second;
  pick(*state_.hosts.host(id), waiting.wish, waiting.answer.assignments);
  if (waiting.answer.assignments.empty()) return;
  send_later(std::move(waiting.send), std::move(waiting.answer));
  waiting_.erase(found);
}

void Scheduler::tick() {
  sizes_.forget();
  Instant now = state_.clock.now();
  for (const auto& [id, was_drawn] : state_.reservations.take_expired(now)) {
    LiveUnit* live = state_.feeder.find_by_result(id);
    if (live == nullptr) continue;
    const bool has_house = state_.has_referee();
    if (was_drawn && has_house && wants_anchor(*live, id)) {
      state_.reservations.release(id);
      wants_house(live->unit.id);
    } else {
      reserve(*live, id);
    }
  }
  std::vector<HostId> late;
  for (const auto& [id, waiting] : waiting_) {
    // Who waits is there, although a long poll may outlast a lease.
    state_.hosts.touch(*state_.hosts.host(id), now, state_.clock.unix_ms());
    if (waiting.until <= now) late.push_back(id);
  }
  for (HostId id : late) {
    WaitingHost& waiting = waiting_.at(id);
    send_later(std::move(waiting.send), std::move(waiting.answer));
    waiting_.erase(id);
  }
}

void Scheduler::close() {
  is_closed_ = true;
  for (auto& [id, waiting] : waiting_) {
    waiting.answer.retry_after = kClosedRetry;
    send_later(std::move(waiting.send), std::move(waiting.answer));
  }
  waiting_.clear();
}

void Scheduler::send_later(Send send, WorkAnswer answer) {
  writer_.after_commit(
      [send = std::move(send), answer = std::move(answer)]() mutable {
        send(std::move(answer));
      });
}

std::optional<Assignment> Scheduler::work_for_house() {
  LiveUnit* live = house_unit();
  if (live == nullptr) return std::nullopt;
  Result* unsent = nullptr;
  for (Result& result : live->results) {
    if (result.server_state == ServerState::unsent) unsent = &result;
  }
  const Host& house = *state_.hosts.host(state_.house_host);
  return send(*live, *unsent, house, {state_.settings.house_device, 0});
}

LiveUnit* Scheduler::house_unit() {
  if (LiveUnit* live = most_wanted()) return live;
  if (!is_house_needed()) return nullptr;
  for (Turn turn : {Turn::shared, Turn::spare}) {
    if (LiveUnit* live = house_unit(turn)) return live;
  }
  return nullptr;
}

LiveUnit* Scheduler::house_unit(Turn turn) {
  for (ResultId id : state_.feeder.unsent()) {
    LiveUnit* live = state_.feeder.find_by_result(id);
    const Run& run = state_.run(live->unit.run).run;
    const bool is_its_turn =
        run.state == RunState::running && turn_of(run) == turn;
    if (is_its_turn && suits(live->results, kHouseUser)) return live;
  }
  return state_.active_hosts().empty()
             ? maker_.make({.host = state_.house_host, .is_proven = true}, turn)
             : nullptr;
}

// Of the units that wait for a house worker, that of the hosts with the best
// record: so checks come first, and of many new hosts one is soon proven, who
// then vouches for the others.
LiveUnit* Scheduler::most_wanted() {
  LiveUnit* best = nullptr;
  std::uint64_t most = 0;
  for (auto id = house_units_.begin(); id != house_units_.end();) {
    LiveUnit* live = state_.feeder.find(*id);
    if (live == nullptr || !has_unsent(*live)) {
      id = house_units_.erase(id);
      continue;
    }
    ++id;
    if (state_.run(live->unit.run).run.state != RunState::running) continue;
    std::uint64_t record = 0;
    for (const Result& result : live->results) {
      record = std::max(record, state_.trust.validated(result.host));
    }
    if (best != nullptr && record <= most) continue;
    best = live;
    most = record;
  }
  if (best != nullptr) house_units_.erase(best->unit.id);
  return best;
}

bool Scheduler::is_house_needed() const {
  if (state_.active_hosts().empty()) return true;
  // The end of a run, or of an epoch that the next one waits for: nothing new
  // can be made and replicas are left over.
  return std::any_of(
      state_.runs.begin(), state_.runs.end(), [](const auto& entry) {
        return entry.second.run.state == RunState::running &&
               (entry.second.is_handed_out() || entry.second.is_at_barrier());
      });
}

}  // namespace quorate

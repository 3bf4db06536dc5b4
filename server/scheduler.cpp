#include "server/scheduler.h"

#include <algorithm>
#include <utility>

#include "base/log.h"
#include "server/host_draw.h"
#include "validator/replication.h"

namespace quorate {
namespace {

bool holds(const protocol::WorkRequest& request, ResultId id) {
  return std::any_of(
      request.holding.begin(), request.holding.end(),
      [id](const protocol::Progress& p) { return p.result == id; });
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

void Scheduler::request_work(HostId id, const protocol::WorkRequest& request,
                             Answer answer) {
  // A host that asks again has given up its first question.
  auto earlier = waiting_.find(id);
  if (earlier != waiting_.end()) {
    answer_later(std::move(earlier->second.answer),
                 std::move(earlier->second.reply));
    waiting_.erase(earlier);
  }
  Host& host = *state_.hosts.host(id);
  state_.hosts.note_machine(host, request.device, request.speed_flops);
  protocol::WorkReply reply;
  renew(host, request, reply);
  resend_lost(host, request, reply.assignments);
  pick(host, request, reply.assignments);
  bool has_news = !reply.assignments.empty() || !reply.cancel.empty() ||
                  !reply.closed.empty();
  if (is_closed_) reply.retry_after = kClosedRetry;
  if (has_news || is_closed_ || request.want == 0 ||
      request.wait.count() <= 0) {
    answer_later(std::move(answer), std::move(reply));
    return;
  }
  waiting_[id] = {request, std::move(reply), state_.clock.now() + request.wait,
                  ++last_turn_, std::move(answer)};
}

void Scheduler::request_more_work(HostId id,
                                  const protocol::WorkRequest& request,
                                  Answer answer) {
  Host& host = *state_.hosts.host(id);
  state_.hosts.note_machine(host, request.device, request.speed_flops);
  protocol::WorkReply reply;
  pick(host, request, reply.assignments);
  if (is_closed_) reply.retry_after = kClosedRetry;
  answer_later(std::move(answer), std::move(reply));
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
  const Seconds lease = state_.lease_of(host);
  state_.leases.renew(result, state_.clock.now(), lease,
                      most_time(live, lease));
}

void Scheduler::heartbeat(HostId id, const protocol::WorkRequest& request,
                          Answer answer) {
  protocol::WorkReply reply;
  renew(*state_.hosts.host(id), request, reply);
  answer_later(std::move(answer), std::move(reply));
}

void Scheduler::renew(const Host& host, const protocol::WorkRequest& request,
                      protocol::WorkReply& reply) {
  state_.hosts.touch(*state_.hosts.host(host.id), state_.clock.now(),
                     state_.clock.unix_ms());
  for (const protocol::Progress& progress : request.holding) {
    LiveUnit* live = state_.feeder.find_by_result(progress.result);
    const Result* result = live ? live->find(progress.result) : nullptr;
    if (result != nullptr && result->host == host.id) {
      if (result->server_state == ServerState::in_progress) {
        renew_lease(*live, host, result->id);
      } else if (result->outcome != ResultOutcome::success &&
                 !is_late_but_welcome(*live, *result)) {
        reply.cancel.push_back(result->id);
      }
      continue;
    }
    if (state_.open_results.is_on_hold(progress.result, host.id)) continue;
    // Not live: judged, given up, or never ours. Only a reported result has a
    // payload that may now be forgotten; the rest is to be stopped.
    std::optional<Result> old = state_.store.result(progress.result);
    bool is_reported =
        old && old->host == host.id && old->outcome == ResultOutcome::success;
    (is_reported ? reply.closed : reply.cancel).push_back(progress.result);
  }
}

void Scheduler::resend_lost(const Host& host,
                            const protocol::WorkRequest& request,
                            std::vector<Assignment>& out) {
  for (ResultId id : state_.feeder.in_progress(host.id)) {
    if (out.size() >= request.want) return;
    if (holds(request, id)) continue;
    LiveUnit* live = state_.feeder.find_by_result(id);
    std::vector<ObjectRef> objects = objects_of(*live);
    if (objects.empty()) continue;
    out.push_back(assignment_of(*live, *live->find(id), std::move(objects)));
    renew_lease(*live, host, id);
    log_debug("result sent again", {{"result", id}, {"host", host.id}});
  }
}

void Scheduler::pick(Host& host, const protocol::WorkRequest& request,
                     std::vector<Assignment>& out) {
  if (state_.rests.is_resting(host.id, state_.clock.now())) return;
  if (state_.is_banned(host.id)) return;
  while (out.size() < request.want &&
         state_.feeder.in_progress(host.id).size() <
             state_.settings.max_results_per_host) {
    std::optional<Assignment> sent;
    if (Result* result = unsent_for(host, request)) {
      sent = send(*state_.feeder.find(result->workunit), *result, host);
      if (!sent) return;
      out.push_back(std::move(*sent));
      continue;
    }
    LiveUnit* live = make_unit(host, request);
    if (live == nullptr) return;
    sent = send(*live, live->results.front(), host);
    if (!sent) {
      for (const Result& r : live->results) state_.reservations.release(r.id);
      return;
    }
    out.push_back(std::move(*sent));
    for (std::size_t i = 1; i < live->results.size(); ++i) {
      reserve(*live, live->results[i].id);
    }
  }
}

Result* Scheduler::unsent_for(const Host& host,
                              const protocol::WorkRequest& request) {
  const Reservations& reservations = state_.reservations;
  auto suits_host = [&](const LiveUnit& live, ResultId result) {
    return suits(live.results, host.user_id) &&
           state_.is_apart(live, host.id) &&
           (state_.is_anchor(host.id) || !wants_anchor(live, result));
  };
  for (const std::set<ResultId>* unsent :
       {&reservations.kept_for(host.id), &reservations.anybodys()}) {
    if (Result* result = first_of(*unsent, suits_host)) return result;
  }
  return first_of(reservations.anybodys(),
                  [&](const LiveUnit& live, ResultId id) {
                    return may_take_again(live, host, request) &&
                           !has_volunteer_for(live, wants_anchor(live, id));
                  });
}

template <class Suits>
Result* Scheduler::first_of(const std::set<ResultId>& unsent, Suits suits) {
  for (ResultId id : unsent) {
    LiveUnit* live = state_.feeder.find_by_result(id);
    if (state_.run(live->unit.run).run.state != RunState::running) continue;
    if (is_wanted_by_house(live->unit.id)) continue;
    if (suits(*live, id)) return live->find(id);
  }
  return nullptr;
}

// It lost its result of this unit, perhaps before it ever came, and there is
// nobody else: the unit must not wait for a stranger for ever.
bool Scheduler::may_take_again(const LiveUnit& live, const Host& host,
                               const protocol::WorkRequest& request) const {
  const bool has_lost_one = std::any_of(
      live.results.begin(), live.results.end(), [&](const Result& result) {
        return result.user == host.user_id &&
               result.outcome == ResultOutcome::no_reply;
      });
  if (!has_lost_one || !suits_again(live.results, host.user_id)) return false;
  bool computes_still = std::any_of(
      live.results.begin(), live.results.end(), [&](const Result& result) {
        return result.host == host.id && holds(request, result.id);
      });
  return !computes_still;
}

LiveUnit* Scheduler::make_unit(const Host& host,
                               const protocol::WorkRequest& request) {
  LiveUnit* live = maker_.make({host.id, request.speed_flops,
                                state_.is_anchor(host.id), request.shards});
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
    if (anchor && state_.settings.house_workers > 0) wants_house(live.unit.id);
    return;
  }
  // An anchor is drawn once: were it drawn again whenever it is slow to come,
  // those who wait idle for it would be favoured.
  const Host& drawn = *state_.hosts.host(*host);
  state_.reservations.keep(
      result, *host,
      state_.clock.now() + (anchor ? state_.anchor_reservation_of(drawn)
                                   : state_.reservation_of(drawn)));
}

bool Scheduler::has_volunteer_for(const LiveUnit& live, bool anchor) const {
  auto can_take = [&](HostId host) {
    return state_.is_active(host) && !state_.is_banned(host) &&
           state_.is_apart(live, host) && (!anchor || state_.is_anchor(host));
  };
  const std::vector<UserId>& users = state_.hosts.volunteers();
  return std::any_of(users.begin(), users.end(), [&](UserId user) {
    const std::vector<HostId>& of_user = state_.hosts.hosts_of(user);
    return suits(live.results, user) &&
           std::any_of(of_user.begin(), of_user.end(), can_take);
  });
}

void Scheduler::serve_waiting() {
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
  for (const auto& [turn, id] : in_turn) {
    WaitingHost& waiting = waiting_.at(id);
    pick(*state_.hosts.host(id), waiting.request, waiting.reply.assignments);
    if (waiting.reply.assignments.empty()) continue;
    answer_later(std::move(waiting.answer), std::move(waiting.reply));
    waiting_.erase(id);
  }
}

void Scheduler::tick() {
  sizes_.forget();
  Instant now = state_.clock.now();
  for (const auto& [id, was_drawn] : state_.reservations.take_expired(now)) {
    LiveUnit* live = state_.feeder.find_by_result(id);
    if (live == nullptr) continue;
    const bool has_house = state_.settings.house_workers > 0;
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
    answer_later(std::move(waiting.answer), std::move(waiting.reply));
    waiting_.erase(id);
  }
}

void Scheduler::close() {
  is_closed_ = true;
  for (auto& [id, waiting] : waiting_) {
    waiting.reply.retry_after = kClosedRetry;
    answer_later(std::move(waiting.answer), std::move(waiting.reply));
  }
  waiting_.clear();
}

void Scheduler::answer_later(Answer answer, protocol::WorkReply reply) {
  writer_.after_commit(
      [answer = std::move(answer), reply = std::move(reply)]() mutable {
        answer(std::move(reply));
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
  return send(*live, *unsent, house);
}

LiveUnit* Scheduler::house_unit() {
  if (LiveUnit* live = most_wanted()) return live;
  if (!is_house_needed()) return nullptr;
  for (ResultId id : state_.feeder.unsent()) {
    LiveUnit* live = state_.feeder.find_by_result(id);
    bool runs = state_.run(live->unit.run).run.state == RunState::running;
    if (runs && suits(live->results, kHouseUser)) return live;
  }
  return state_.active_hosts().empty()
             ? maker_.make({.host = state_.house_host, .is_proven = true})
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
  // The end of a run: nothing new can be made and replicas are left over.
  return std::any_of(state_.runs.begin(), state_.runs.end(),
                     [](const auto& entry) {
                       return entry.second.run.state == RunState::running &&
                              entry.second.is_handed_out();
                     });
}

}  // namespace quorate

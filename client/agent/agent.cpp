#include "client/agent/agent.h"

#include <algorithm>

#include "base/error.h"
#include "base/log.h"
#include "base/retry.h"
#include "client/status/status_text.h"
#include "protocol/limits.h"

namespace quorate::client {
namespace {

// A server that says at once that there is nothing is asked again after this.
constexpr Seconds kShortestPause{1};
// How often the project is asked what became of our results; sooner when it has
// closed one.
constexpr Seconds kStandingEvery{60};
constexpr Seconds kStandingSoon{5};

}  // namespace

Agent::Agent(const AgentParts& parts)
    : parts_(parts),
      state_file_(parts.folder / "state.json"),
      state_(state_file_.load()),
      cache_(parts.folder / "objects"),
      disk_(parts.data.empty() ? parts.folder : parts.data, parts.folder,
            cache_),
      seed_(secret_random_u64()),
      work_lane_(parts.make_transfer(), parts.identity, session_, mailbox_),
      urgent_lane_(parts.make_transfer(), parts.identity, session_, mailbox_),
      beat_lane_(parts.make_transfer(), parts.identity, session_, mailbox_),
      download_lane_(parts.make_transfer(), parts.identity, session_, mailbox_),
      upload_lane_(parts.make_transfer(), parts.identity, session_, mailbox_) {
  fs::create_directories(parts_.folder / "results");
  forget_strangers();
}

// Folders of results that the state does not know, or knows to be over: it was
// lost, or the agent was killed while it forgot them, or was an older one.
void Agent::forget_strangers() {
  std::vector<fs::path> strangers;
  for (const auto& entry : fs::directory_iterator(parts_.folder / "results")) {
    bool is_known = std::any_of(
        state_.tasks.begin(), state_.tasks.end(), [&](const Task& task) {
          return has_files(task) && result_folder(task.id()) == entry.path();
        });
    if (!is_known) strangers.push_back(entry.path());
  }
  for (const fs::path& folder : strangers) fs::remove_all(folder);
}

void Agent::run(const std::function<bool()>& should_leave) {
  computer_ = std::make_unique<Computer>(
      parts_.workers, mailbox_,
      [this](ResultId result, const ComputeNews& news) {
        on_compute_news(result, news);
      },
      parts_.stop_patience);
  while (!should_leave() && !is_done() && !renewed_) {
    pass();
    mailbox_.deliver(kTick);
  }
  computer_.reset();
  save_state();
  if (parts_.once && !failure_.empty()) {
    throw Error(ErrorKind::denied, "compute one result: " + failure_);
  }
}

// What the present state calls for; nothing in it waits.
void Agent::pass() {
  if (computer_->broken()) throw Error(*computer_->broken());
  follow_orders();
  for (std::size_t i = 0; i < state_.tasks.size();) {
    std::size_t before = state_.tasks.size();
    advance(state_.tasks[i]);
    if (state_.tasks.size() == before) ++i;  // else it was removed
  }
  ask_for_work();
  beat();
  ask_for_standing();
  ask_for_statement();
  note_work();
  save_state();
  show_activity();
}

void Agent::save_state() {
  state_file_.save(state_);
  for (ResultId result : unneeded_) leave_disk(result);
  unneeded_.clear();
}

void Agent::follow_orders() {
  Orders orders = parts_.orders(computer_->pids());
  // A question under way may bring one more.
  if (!orders.permission.takes_new_work && !asking_ &&
      std::none_of(state_.tasks.begin(), state_.tasks.end(), is_uncomputed)) {
    orders.permission = finished();
  }
  bool paused = !orders.permission.is_granted();
  if (paused && orders.permission.rest != orders_.permission.rest) {
    log_info("paused", {{"why", orders.permission.why}});
  } else if (!paused && is_paused_) {
    log_info("resumed");
  }
  is_paused_ = paused;
  computer_->set_limits(orders);
  if (orders.cache_bytes < orders_.cache_bytes) {
    prune_cache(orders.cache_bytes);
  }
  if (orders.disk_bytes != orders_.disk_bytes) {
    disk_.set_limit(orders.disk_bytes, needed_objects());
  }
  orders_ = std::move(orders);
}

bool Agent::is_done() const {
  return parts_.once && (has_reported_ || !failure_.empty());
}

std::optional<WorkWish> Agent::wanted() const {
  return work_wanted(computer_->devices(), state_.tasks, parts_.once);
}

protocol::WorkRequest Agent::describe_tasks() const {
  protocol::WorkRequest request;
  request.device = devices_text(computer_->names());
  if (const auto& site = parts_.site) {
    request.site = {site->door.secret().id(), site->door.contact()};
  }
  for (const Task& task : state_.tasks) {
    if (task.is_cancelled || task.state == TaskState::closed) continue;
    // Nobody should wait for work that rests: its lease may run out, and the
    // project's answer tells us if another host has done it.
    if (is_paused_ && is_uncomputed(task)) continue;
    request.holding.push_back({task.id(), task.step, task.steps});
  }
  return request;
}

void Agent::ask_for_work() {
  Instant now = parts_.clock.now();
  bool may_ask = !is_paused_ && orders_.permission.takes_new_work &&
                 now >= std::max({ask_at_, rest_until_, refused_until_});
  std::optional<WorkWish> wish = may_ask ? wanted() : std::nullopt;
  if (!wish || (asking_ && !goes_before(*wish, *asking_))) return;
  Lane& lane = asking_ ? urgent_lane_ : work_lane_;
  asking_ = wish;
  contact_.is_asking = true;
  contact_.asked = parts_.clock.unix_ms();
  contact_.asked_at = now;
  protocol::WorkRequest request = describe_tasks();
  request.speed_flops = wish->speed_flops;
  request.want = wish->results;
  // After a refusal the first thing to know is if it still holds.
  request.wait = contact_.refused_until == 0 ? kLongPoll : Seconds(0);
  request.shards = cache_.shards(protocol::kMaxShards);
  lane.run<protocol::WorkReply>(
      [request = std::move(request)](ProjectApi& api) {
        return api.ask_for_work(request);
      },
      [this, now, wish = *wish,
       question = ++questions_](Outcome<protocol::WorkReply> outcome) {
        if (question == questions_) {
          on_work(std::move(outcome), now, wish);
        } else if (outcome.value) {  // given up for another
          take_answer(*outcome.value, wish);
        }
      });
}

void Agent::on_work(Outcome<protocol::WorkReply> outcome, Instant asked,
                    const WorkWish& wish) {
  asking_.reset();
  contact_.is_asking = false;
  Instant now = parts_.clock.now();
  note_contact(outcome.error, outcome.asked_delay);
  if (!outcome.value) {
    Seconds pause = retry_delay(++work_failures_, seed_);
    ask_at_ = now + std::max(pause, outcome.asked_delay);
    return;
  }
  work_failures_ = 0;
  ask_at_ = now + outcome.value->retry_after;
  contact_.was_empty = outcome.value->assignments.empty();
  contact_.is_finished = outcome.value->is_finished;
  // An answer that ends what we hold did not wait for work.
  const bool has_ended = take_answer(*outcome.value, wish);
  if (contact_.was_empty && !has_ended) {
    ask_at_ = std::max(ask_at_, asked + kShortestPause);
  }
}

bool Agent::take_answer(const protocol::WorkReply& reply,
                        const WorkWish& wish) {
  take_assignments(reply.assignments, wish);
  return take_verdicts(reply);
}

void Agent::take_assignments(const std::vector<Assignment>& assignments,
                             const WorkWish& wish) {
  std::uint32_t taken = 0;
  if (state_.tasks.empty()) {
    beat_at_ = parts_.clock.now() + session_.heartbeat();
  }
  for (const Assignment& assignment : assignments) {
    if (Task* held = find(assignment.result)) {
      if (held->assignment.objects != assignment.objects) {
        // The project was restored from a backup, and the number means other
        // work now. That is sent again once we no longer name the old.
        cancel(*held);
        continue;
      }
      // Its first assignment never reached us, or the agent was restarted: the
      // newest nonce counts as long as nothing is signed.
      if (is_uncomputed(*held)) held->assignment.nonce = assignment.nonce;
      continue;
    }
    if (++taken > wish.results) break;  // more than we asked for
    Task task;
    task.assignment = assignment;
    task.device = wish.device;
    state_.tasks.push_back(std::move(task));
    log_info("result_assigned", {{"result", assignment.result}});
  }
}

bool Agent::take_verdicts(const protocol::WorkReply& reply) {
  if (parts_.site) parts_.site->mates.learn(reply.mates);
  bool has_ended = false;
  for (ResultId id : reply.cancel) {
    if (Task* task = find(id)) cancel(*task);
  }
  for (ResultId id : reply.closed) {
    Task* task = find(id);
    if (task == nullptr || task->state != TaskState::reported) continue;
    enter(*task, TaskState::closed);
    has_ended = true;
    standing_at_ = std::min(standing_at_, parts_.clock.now() + kStandingSoon);
    log_debug("result_closed", {{"result", id}});
  }
  return has_ended;
}

void Agent::cancel(Task& task) {
  if (task.is_cancelled || task.state == TaskState::closed) return;
  task.is_cancelled = true;
  if (task.state == TaskState::reported) return;  // its work counts
  ++state_.counters.cancelled;
  log_info("result_cancelled", {{"result", task.id()}});
}

void Agent::beat() {
  Instant now = parts_.clock.now();
  if (is_beating_ || now < refused_until_) return;
  std::vector<protocol::Failure> failures;
  for (const Task& task : state_.tasks) {
    if (task.state == TaskState::failed && !task.is_cancelled) {
      failures.push_back({task.id(), task.failure});
    }
  }
  // A failure is told at once, unless the project cannot be reached.
  bool is_urgent = !failures.empty() && beat_failures_ == 0;
  if (state_.tasks.empty() || (now < beat_at_ && !is_urgent)) return;
  protocol::WorkRequest request = describe_tasks();
  // Nor should a round: who is silent is not counted on. But `status` shows
  // when the project can be reached again.
  const bool is_reached = contact_.away_since == 0;
  if (is_paused_ && request.holding.empty() && failures.empty() && is_reached) {
    return;
  }
  is_beating_ = true;
  request.failed = failures;
  beat_lane_.run<protocol::WorkReply>(
      [request = std::move(request)](ProjectApi& api) {
        return api.heartbeat(request);
      },
      [this,
       failures = std::move(failures)](Outcome<protocol::WorkReply> outcome) {
        on_beat(std::move(outcome), failures);
      });
}

void Agent::on_beat(Outcome<protocol::WorkReply> outcome,
                    const std::vector<protocol::Failure>& told) {
  is_beating_ = false;
  Instant now = parts_.clock.now();
  note_contact(outcome.error, outcome.asked_delay);
  if (!outcome.value) {
    Seconds pause = std::min(session_.heartbeat(),
                             retry_delay(++beat_failures_, seed_ + 1));
    beat_at_ = now + std::max(pause, outcome.asked_delay);
    return;
  }
  beat_failures_ = 0;
  beat_at_ = now + session_.heartbeat();
  for (const protocol::Failure& failure : told) {
    Task* task = find(failure.result);
    if (task == nullptr || task->state != TaskState::failed) continue;
    enter(*task, TaskState::closed);
    ++state_.counters.failed;
  }
  take_verdicts(*outcome.value);
}

// Only when the project was heard from: opening a session is for others.
void Agent::ask_for_standing() {
  Instant now = parts_.clock.now();
  if (is_learning_ || now < standing_at_ || now < refused_until_) return;
  if (session_.token().empty()) return;
  is_learning_ = true;
  standing_at_ = now + kStandingEvery;
  // Behind the downloads: nothing waits for it.
  download_lane_.run<protocol::StandingReply>(
      [](ProjectApi& api) { return api.standing(); },
      [this](Outcome<protocol::StandingReply> outcome) {
        is_learning_ = false;
        if (!outcome.value) return;  // an older server, or none: ask again
        write_standing(parts_.folder / "standing.json", *outcome.value);
      });
}

}  // namespace quorate::client

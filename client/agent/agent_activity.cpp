// What the agent tells of itself: the log of its contact, activity.json.
#include <algorithm>

#include <unistd.h>

#include "base/error.h"
#include "base/log.h"
#include "client/agent/agent.h"

namespace quorate::client {
namespace {

constexpr Seconds kShowEvery{1};

Millis in_millis(Seconds time) {
  return static_cast<Millis>(time.count() * 1000);
}

}  // namespace

// Says once when the project is out of reach, and once when it is back.
void Agent::note_contact(const std::optional<Error>& error,
                         Seconds asked_delay) {
  if (error && error->kind() == ErrorKind::denied) {
    note_refusal(*error, asked_delay);
    return;
  }
  if (!error && contact_.refused_until != 0) log_info("project_accepts");
  contact_.refused_until = 0;
  bool was_away = contact_.away_since != 0;
  if (error && !was_away) {
    contact_.away_since = parts_.clock.unix_ms();
    statement_at_ = parts_.clock.now();  // its certificate may be another
    log_warning("project_unreachable", {{"why", error->what()}});
  } else if (!error && was_away) {
    contact_.away_since = 0;
    statement_at_ = parts_.clock.now();  // its keys may be others, too
    log_info("project_reached");
  }
  contact_.why = error ? error->what() : "";
}

// A host that is banned: nothing that it asks will be answered before its
// operator has done something.
void Agent::note_refusal(const Error& error, Seconds asked_delay) {
  const Seconds pause = refused_pause(asked_delay);
  refused_until_ = parts_.clock.now() + pause;
  const bool is_known = contact_.refused_until != 0;
  if (!is_known) statement_at_ = parts_.clock.now();
  contact_.refused_until = parts_.clock.unix_ms() + in_millis(pause);
  contact_.away_since = 0;  // it has answered
  contact_.why = error.what();
  log(is_known ? LogLevel::debug : LogLevel::warning, "project_refuses",
      {{"why", contact_.why}, {"asks_again", pause.count()}});
}

// Says once when there begins to be nothing to do.
void Agent::note_work() {
  bool was_idle = is_idle_;
  is_idle_ = count_unfinished(state_.tasks) == 0 && !is_paused_ &&
             has_no_work(contact_, parts_.clock.now());
  if (!is_idle_ || was_idle) return;
  log_info("no_work",
           {{"why", no_work_now()},
            {"then", parts_.once ? "--once waits for a result" : "waits"}});
}

std::string Agent::no_work_now() const {
  Instant now = parts_.clock.now();
  // A question under way is answered when its long poll is over.
  Millis next = contact_.is_asking
                    ? contact_.asked + in_millis(kLongPoll)
                    : parts_.clock.unix_ms() + in_millis(ask_at_ - now);
  return no_work_text(contact_, next);
}

// What keeps the agent from working as it should; the project's absence first.
std::string Agent::trouble() const {
  if (contact_.refused_until != 0) {
    return refused_text(parts_.project.statement.name, contact_);
  }
  if (contact_.away_since != 0) {
    auto kept =
        std::count_if(state_.tasks.begin(), state_.tasks.end(), is_on_its_way);
    Instant next = state_.tasks.empty() ? ask_at_ : beat_at_;
    if (!is_paused_ && wanted()) next = std::min(next, ask_at_);
    return away_text(parts_.project.statement.name, contact_,
                     static_cast<std::size_t>(kept), next - parts_.clock.now());
  }
  for (const Task& task : state_.tasks) {
    if (!task.obstacle.empty()) return task.obstacle;
  }
  if (!orders_.trouble.empty()) return orders_.trouble;
  const std::vector<std::string>& given_up = computer_->given_up();
  return given_up.empty() ? "" : "not used: " + given_up.back();
}

Activity Agent::tasks_now() const {
  Activity activity;
  for (const Task& task : state_.tasks) {
    activity.tasks.push_back({task.id(), std::string(name_of(task.state)),
                              task.step, task.steps, task.is_busy,
                              /*is_kept=*/false, task.device});
  }
  if (const auto& site = parts_.site) {
    activity.site = site_activity(site->door, site->mates);
  }
  return activity;
}

void Agent::show_activity() {
  Instant now = parts_.clock.now();
  if (now < show_at_) return;
  show_at_ = now + kShowEvery;
  Activity activity = tasks_now();
  activity.pid = ::getpid();
  activity.devices = computer_->names();
  activity.confinement = computer_->confinement();
  activity.is_away = contact_.away_since != 0;
  activity.is_refused = contact_.refused_until != 0;
  activity.trouble = trouble();
  if (is_idle_) activity.no_work = no_work_now();
  activity.rest = std::string(name_of(orders_.permission.rest));
  activity.why = orders_.permission.why;
  activity.threads = orders_.threads;
  activity.cpu_percent = orders_.cpu_percent;
  activity.gpu_percent = orders_.gpu_percent;
  if (parts_.network != nullptr) {
    activity.received = parts_.network->received;
    activity.sent = parts_.network->sent;
  }
  write_activity(parts_.folder / "activity.json", activity);
}

// How far the tasks are, for `status` when no agent runs.
Agent::~Agent() {
  try {
    write_activity(parts_.folder / "activity.json", tasks_now());
  } catch (const std::exception&) {
    // The folder is gone: nobody will look there.
  }
}

}  // namespace quorate::client

// The agent of one project: asks for work ahead, carries every task through its
// states, keeps its leases alive, and sleeps until something happens.
//
// The room client/agent is the running client: this loop, lanes, worker slots
// and the mailbox between them. It owns the tasks in memory, five network
// threads, a thread and a process for each worker, and state.json, which it
// writes at the end of every turn that changed it. It may include all rooms
// before it.
//
// One thread owns all state. Whatever may wait runs elsewhere (lanes for the
// network, slots for the workers) and comes back as news in the mailbox, so
// that neither computing nor heartbeats ever wait for a transfer.
//
// A kill at any moment loses at most what was computed since the last
// checkpoint: the next start reads state.json and goes on, or asks for the
// result again.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/file.h"
#include "client/agent/agent_parts.h"
#include "client/agent/computer.h"
#include "client/agent/lane.h"
#include "client/agent/work_fetch.h"
#include "client/exchange/object_cache.h"
#include "client/exchange/object_transfer.h"
#include "client/exchange/result_signing.h"
#include "client/exchange/session.h"
#include "client/folder/project.h"
#include "client/machine/settings.h"
#include "client/permission/governor.h"
#include "client/site/mates.h"
#include "client/site/site_door.h"
#include "client/status/contact.h"
#include "client/units/disk_room.h"
#include "client/units/state_file.h"
#include "client/units/task.h"

namespace quorate::client {

class Agent {
 public:
  // Reads what an earlier run left. Throws io.
  explicit Agent(const AgentParts& parts);
  ~Agent();

  // Works until should_leave(), which is asked at every turn, or with `once`
  // until a result was reported.
  // Throws what makes going on senseless: unsupported when no device can serve,
  // denied when the one result of `once` was rejected, io.
  void run(const std::function<bool()>& should_leave);

  const AgentState& state() const { return state_; }
  // The project as it is now, if that is why run() returned: it has other keys,
  // or its server another certificate. project.json has it, too.
  const std::optional<Project>& renewed() const { return renewed_; }

 private:
  // agent.cpp: the loop and the conversation about work.
  void forget_strangers();
  // Then removes the files that nobody needs by this state. Not before: after a
  // crash the task would want them.
  void save_state();
  // One turn: orders, news, steps of all tasks, questions that are due.
  void pass();
  void follow_orders();
  void ask_for_work();
  std::optional<WorkWish> wanted() const;
  void on_work(Outcome<protocol::WorkReply> outcome, Instant asked,
               const WorkWish& wish);
  bool take_answer(const protocol::WorkReply& reply, const WorkWish& wish);
  void take_assignments(const std::vector<Assignment>& assignments,
                        const WorkWish& wish);
  // True if a result of ours was closed, as the next does.
  bool take_verdicts(const protocol::WorkReply& reply);
  void cancel(Task& task);
  // A heartbeat, if one is due and none is under way.
  void beat();
  void on_beat(Outcome<protocol::WorkReply> outcome,
               const std::vector<protocol::Failure>& told);
  void ask_for_standing();
  protocol::WorkRequest describe_tasks() const;
  bool is_done() const;

  // agent_project.cpp: who the project is now.
  void ask_for_statement();
  void on_statement(const Outcome<Bytes>& outcome);
  // The server has newer keys than we know: what they sealed has to wait.
  bool awaits_keys() const;

  // agent_activity.cpp: what it tells of itself.
  void note_contact(const std::optional<Error>& error, Seconds asked_delay);
  void note_refusal(const Error& error, Seconds asked_delay);
  void note_work();
  std::string no_work_now() const;
  std::string trouble() const;
  Activity tasks_now() const;
  void show_activity();

  // agent_steps.cpp: what a step of a task does.
  void advance(Task& task);
  // Begins the step; what takes long is done on a lane or by a worker.
  void perform(Step step, Task& task);
  void fetch(Task& task);
  void start(Task& task);
  void stop(Task& task);
  void sign(Task& task);
  void upload(Task& task);
  void report(Task& task);
  void forget(Task& task);
  void on_compute_news(ResultId result, const ComputeNews& news);
  void on_lost(Task& task, const Lost& lost);
  void on_refused(Task& task, const std::string& kind, const std::string& why);
  void on_computed(Task& task, const Computed& computed);
  void on_report(Task& task, const ReportAnswer& answer);
  protocol::ComputeRequest compute_request(const Assignment& assignment,
                                           const PublicKey& sealed_with) const;
  void on_stopped(Task& task);
  Task* find(ResultId result);
  void give_up(Task& task, const std::string& why);
  // Removes the files of a result.
  void leave_disk(ResultId result);
  // Counts a failed attempt and sets when to try again; asked_delay: what the
  // server asked for.
  void retry(Task& task, const Error& error, Seconds asked_delay);
  // Runs job(ProjectApi&) -> T on a lane while the task is busy; done(Task&,
  // T&) if it worked, else a retry or the end of the task.
  template <class T, class Job, class Done>
  void run_step(Lane& lane, Task& task, Job job, Done done);
  std::set<Hash> needed_objects() const;
  void prune_cache(std::uint64_t limit_bytes);
  fs::path result_folder(ResultId result) const;

  AgentParts parts_;
  StateFile state_file_;
  AgentState state_;
  std::vector<ResultId> unneeded_;  // whose files are, once this is saved
  ObjectCache cache_;
  DiskRoom disk_;
  Session session_;
  Mailbox mailbox_;
  std::uint64_t seed_;  // of retries, so that hosts do not return together

  Orders orders_;
  bool is_paused_ = false;
  bool is_beating_ = false;
  bool is_learning_ = false;  // its standing
  std::uint32_t work_failures_ = 0;
  std::uint32_t beat_failures_ = 0;
  std::uint32_t failures_in_a_row_ = 0;  // of tasks, since one was computed
  Instant ask_at_{};
  Instant rest_until_{};     // after failed tasks
  Instant refused_until_{};  // by the project
  Instant beat_at_{};
  Instant standing_at_{};
  Instant statement_at_{};
  bool is_asking_statement_ = false;
  std::uint32_t statement_misses_ = 0;  // in a row
  std::optional<Project> renewed_;
  Instant show_at_{};
  Contact contact_;
  // The question under way, and how many were asked before it.
  std::optional<WorkWish> asking_;
  std::uint64_t questions_ = 0;
  bool is_idle_ = false;  // the project has no work
  // For `once`: a result was reported, or why none will be.
  bool has_reported_ = false;
  std::string failure_;

  std::unique_ptr<Computer> computer_;
  Lane work_lane_;
  Lane urgent_lane_;  // for a question that goes before one that waits
  Lane beat_lane_;
  Lane download_lane_;
  Lane upload_lane_;
};

}  // namespace quorate::client

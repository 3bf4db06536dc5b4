// Finds out which assimilated results were false, and takes them out of the
// model. Both take long, so they happen on a thread of their own, one run and
// one step at a time:
//   recheck  units that were taken in on the word of a host that has proved
//            false are recomputed; what each is found to be is stored at once
//   revise   the model is rebuilt without what is to be revoked, while the run
//            goes on, but for the last stretch; then one transaction has it
//            all: ledger entry, published version, units
// A process that dies in between goes on where the store says that it was.
#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>

#include "server/judging/consequences.h"
#include "server/merging/assimilator.h"
#include "server/rechecking/recomputer.h"
#include "server/rechecking/revision_order.h"
#include "server/state/project_state.h"
#include "server/writer/job_thread.h"
#include "validator/replay.h"

namespace quorate {

class Reviser {
 public:
  // post: a job for the writer that ends with Daemons::settle().
  Reviser(ProjectState& state, Writer& writer, Assimilator& assimilator,
          std::function<void(Job)> post);
  ~Reviser();

  // Runs a job beside the writer's, some time after it is called.
  using Aside = std::function<void(Job)>;

  // start_with() is for simulations, which have no second thread.
  void start();  // with a thread of its own
  void start_with(Aside aside) { aside_ = std::move(aside); }
  void stop();
  // The writer's thread: begins what is to be done, if nothing is under way.
  void pass();

 private:
  struct Recheck {
    RunKey run = 0;
    struct Unit {
      WorkunitId id = 0;
      Claim claim;  // of the result that is in the model
    };
    std::map<ResultId, Unit> units;
  };
  struct Revision;

  bool has_recheck(const TrainingRun& training) const;
  // These two are made on the writer's thread and are all that the other gets.
  Recheck recheck_of(const TrainingRun& training);
  std::shared_ptr<Revision> revision_of(const TrainingRun& training);
  ReplayOptions replay_options() const;
  void recheck(const Recheck& order);
  // The writer's thread again.
  void store_verdict(WorkunitId unit, const std::optional<Stretch>& stretch);
  void rebuild(const std::shared_ptr<Revision>& order);  // its next stretch
  std::optional<PublicKey> only_host(const Revision& order) const;
  void store_revision(Revision& order);
  void begin(const RevisionStep& step);
  // Runs `what` aside, then `next` on the writer's thread, if all went well.
  // Else the same is tried again half a minute later.
  void work(RunKey run, std::function<void()> what, std::function<void()> next);
  void end(RunKey run, const std::string& failure);
  void expect_going_on() const;

  ProjectState& state_;
  Writer& writer_;
  Assimilator& assimilator_;
  Consequences consequences_;
  std::function<void(Job)> post_;
  Aside aside_;  // empty: not started
  std::unique_ptr<JobThread> thread_;
  std::atomic<bool> is_stopping_{false};
  bool is_busy_ = false;
  Instant not_before_{};
  std::optional<RevisionStep> last_;
  std::string failure_;  // that was recorded last
};

}  // namespace quorate

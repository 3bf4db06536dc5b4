// Removes what is left of uploads as soon as their results are closed, and
// objects that nothing needs any more; these in two ways:
//
// Old snapshots, as soon as a newer version is published: each version that was
// a base has one, and the ledger names only the published ones.
// take_old_snapshots() chooses them, Assimilator::publish() removes them.
//
// Everything else by a sweep now and then, on a thread of its own: it asks what
// needs each object (server/objects/object_uses), and removes what nothing
// needs and nobody has used for as long as server/objects/retention says. Why
// it never removes what somebody is about to need, at any moment and after any
// kill -9:
//
//   1. The sweep begins at time T. It asks the writer for the objects that are
//      named in memory only: payloads of results that are not reported yet,
//      each run's newest snapshot, models of peers that wait. The answer comes
//      after a commit, and the store is read after the answer: so what was
//      committed or in memory then is known, and what is known to be needed
//      stays.
//   2. What comes to be named later was put, adopted or renewed by whoever
//      names it, at most an hour before its commit; or it was in memory, see 1.
//      An object that is put, adopted or renewed after T less an hour stays:
//      removing looks at its time under the object store's lock. When the clock
//      of the files has jumped, "an hour before" means nothing: that sweep
//      removes nothing.
//   3. So an object that is removed is named by no later commit unless it was
//      put anew, after it was removed.
//   4. A run's recorded updates may go once `updates_removed` is committed:
//      before the first of them goes.
//   5. In other processes: a backup holds the objects by its lock, and so does
//      `dataset add`; nothing is removed meanwhile.
#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "server/objects/object_uses.h"
#include "server/objects/retention.h"
#include "server/objects/storage.h"
#include "server/objects/upload.h"
#include "server/state/project_state.h"
#include "server/writer/job_thread.h"
#include "server/writer/writer.h"

namespace quorate {

// Snapshots of `training` to remove now that its newest version is published:
// its own ones that are base of no live unit. A restart rebuilds the model from
// the published version and needs, beside it, only the bases of units that are
// live now. Forgets them in `training`. What was written before the server's
// last start is left to the sweep. To be removed by remove_own(): others may
// have the same bits by now.
std::vector<Hash> take_old_snapshots(const ProjectState& state,
                                     TrainingRun& training);

// To be held from the choice of objects until they are removed. nullopt: not
// now, a backup is copying them (server/backup).
std::optional<FileLock> right_to_remove(const ProjectFolder& folder);

class FileDeleter {
 public:
  FileDeleter(ProjectState& state, Writer& writer, Uploads& uploads);
  ~FileDeleter();

  void start();
  void stop();
  // The writer's thread, within a job: has what was uploaded for results that
  // were closed removed once that is durable, and begins a sweep if it is time
  // for one and the server has the role of an assimilator.
  void pass();

  // One sweep; not on the writer's thread once that runs. Throws what is wrong
  // with store or disk, having removed nothing that is needed.
  void sweep();

 private:
  struct Doomed {
    Hash hash;
    ObjectUse use;
    std::uint64_t bytes = 0;
    fs::file_time_type limit;  // unless it was used since
  };
  struct Owner {
    UserId user = 0;
    std::string block;
  };

  void drop_uploads();
  void drop_closed_uploads();
  void give_up_updates();
  std::map<HostId, Owner> owners() const;
  // Of these payloads, whose time is not over.
  std::vector<Doomed> beyond_their_quota(
      const std::vector<Doomed>& payloads,
      const std::vector<Evidence>& evidence) const;
  std::vector<std::pair<Hash, ObjectUse>> names_in_memory() const;
  bool has_clock_jumped(fs::file_time_type now);
  void remove(const std::vector<Doomed>& doomed, Storage& storage);
  void expect_going_on() const;

  ProjectState& state_;
  Writer& writer_;
  Uploads& uploads_;
  std::unique_ptr<JobThread> thread_;
  std::unique_ptr<JobThread> upload_thread_;  // does not wait for a sweep
  std::atomic<bool> is_stopping_{false};
  bool is_busy_ = false;
  Instant not_before_{};
  Instant not_before_when_full_{};
  // When the last sweep began, by both clocks.
  std::optional<std::pair<Instant, fs::file_time_type>> last_;
};

}  // namespace quorate

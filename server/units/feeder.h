// The live part of the store in memory: workunits that still need a decision,
// with their results. Decisions run on this window; every change goes to the
// store in the same transaction. Used by the writer's thread only.
//
// The room server/units knows the life of one unit: what is live (Feeder),
// which state may follow which (states), what to do next (decision), who must
// be heard from (leases), and what doors may see (open_results, the one part
// that other threads use). It may include settings, writer and store.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <unordered_map>
#include <utility>
#include <vector>

#include "server/store/store.h"
#include "server/units/open_results.h"
#include "validator/update_bound.h"
#include "workunits/objects/object_store.h"
#include "workunits/task.h"
#include "workunits/workunit.h"

namespace quorate {

struct LiveUnit {
  Workunit unit;
  std::shared_ptr<const TrainingTask> task;
  std::uint64_t sealed_bytes = 0;  // what the sealed task takes
  std::vector<Result> results;     // in order of id
  // Of reported updates whose payload is there.
  std::map<Hash, UpdateSize> sizes{};

  Result* find(ResultId id);
};

// What the web front needs to know of a result in progress.
OpenResult open_result(const LiveUnit& live, const Result& result,
                       const PublicKey& host);

class Feeder {
 public:
  explicit Feeder(Store& store) : store_(store) {}

  // Takes in the live units of a run. Throws corrupt if the task of one is
  // missing or damaged; then it takes none.
  void load(RunKey run, const ObjectReader& objects);

  // Null if it is not live. References stay valid until drop().
  LiveUnit* find(WorkunitId id);
  LiveUnit* find_by_result(ResultId id);
  std::map<WorkunitId, LiveUnit>& units() { return units_; }
  const std::map<WorkunitId, LiveUnit>& units() const { return units_; }
  // Those of a run in one state, oldest first.
  const std::set<WorkunitId>& units_in(RunKey run, WorkunitState state) const;
  // Ids of unsent results, oldest first.
  const std::set<ResultId>& unsent() const { return unsent_; }
  // Results in progress at a host.
  const std::set<ResultId>& in_progress(HostId host) const;
  // Hosts that have fewer results in progress since this was asked last.
  std::set<HostId> take_freed() { return std::exchange(freed_, {}); }
  // Results in progress anywhere.
  std::size_t in_progress_count() const { return holder_.size(); }

  // Adds a new unit without results; its id is set. sealed: the task.
  LiveUnit& add_unit(Workunit unit, TrainingTask task, Bytes sealed);
  // Adds unsent results; returns their ids.
  std::vector<ResultId> add_results(LiveUnit& live, std::size_t count);

  // Store what changed; indexes follow. A unit that needs no more decisions
  // and has no result in progress leaves the window with drop().
  void save(const LiveUnit& live);
  void save(const Result& result);
  void drop(WorkunitId id);

 private:
  // The sets above follow a row when it is saved.
  void index(const Workunit& unit);
  void unindex(const Workunit& unit);
  void index(const Result& result);
  void unindex(const Result& result);

  Store& store_;
  std::map<WorkunitId, LiveUnit> units_;
  std::map<std::pair<RunKey, WorkunitState>, std::set<WorkunitId>> by_state_;
  // As by_state_ has it.
  std::unordered_map<WorkunitId, WorkunitState> state_of_;
  std::unordered_map<ResultId, LiveUnit*> unit_of_;
  std::set<ResultId> unsent_;
  std::unordered_map<HostId, std::set<ResultId>> in_progress_;
  std::unordered_map<ResultId, HostId> holder_;
  std::set<HostId> freed_;
};

}  // namespace quorate

#include "server/units/feeder.h"

#include <algorithm>

#include "base/error.h"
#include "server/units/sealed_tasks.h"

namespace quorate {

Result* LiveUnit::find(ResultId id) {
  auto found = std::find_if(results.begin(), results.end(),
                            [id](const Result& r) { return r.id == id; });
  return found == results.end() ? nullptr : &*found;
}

OpenResult open_result(const LiveUnit& live, const Result& result,
                       const PublicKey& host) {
  OpenResult open;
  open.id = result.id;
  open.host = result.host;
  open.host_key = host;
  open.nonce = result.nonce;
  open.workunit = live.unit.object;
  open.is_witness = result.is_witness;
  open.task = live.task;
  return open;
}

void Feeder::load(RunKey run, const ObjectReader& objects) {
  std::vector<LiveUnit> live;
  for (Workunit& unit : store_.live_workunits()) {
    if (unit.run != run) continue;
    Bytes sealed = sealed_task_of(store_, objects, unit.object);
    auto task =
        std::make_shared<const TrainingTask>(task_in(sealed, unit.object));
    live.push_back({std::move(unit), std::move(task), sealed.size(), {}});
  }
  std::vector<WorkunitId> ids;
  for (LiveUnit& one : live) {
    index(one.unit);
    ids.push_back(one.unit.id);
    units_.emplace(one.unit.id, std::move(one));
  }
  for (Result& result : store_.results_of(ids)) {
    LiveUnit& unit = units_.at(result.workunit);
    unit_of_[result.id] = &unit;
    index(result);
    unit.results.push_back(std::move(result));
  }
}

LiveUnit* Feeder::find(WorkunitId id) {
  auto found = units_.find(id);
  return found == units_.end() ? nullptr : &found->second;
}

LiveUnit* Feeder::find_by_result(ResultId id) {
  auto found = unit_of_.find(id);
  return found == unit_of_.end() ? nullptr : found->second;
}

const std::set<WorkunitId>& Feeder::units_in(RunKey run,
                                             WorkunitState state) const {
  static const std::set<WorkunitId> kNone;
  auto found = by_state_.find({run, state});
  return found == by_state_.end() ? kNone : found->second;
}

const std::set<ResultId>& Feeder::in_progress(HostId host) const {
  static const std::set<ResultId> kNone;
  auto found = in_progress_.find(host);
  return found == in_progress_.end() ? kNone : found->second;
}

LiveUnit& Feeder::add_unit(Workunit unit, TrainingTask task, Bytes sealed) {
  unit.id = store_.insert_workunits({&unit, 1}).at(0);
  WorkunitId id = unit.id;
  std::uint64_t sealed_bytes = sealed.size();
  SealedTask row{id, std::move(sealed)};
  store_.insert_sealed_tasks({&row, 1});
  index(unit);
  LiveUnit live{std::move(unit),
                std::make_shared<const TrainingTask>(std::move(task)),
                sealed_bytes,
                {}};
  return units_.emplace(id, std::move(live)).first->second;
}

std::vector<ResultId> Feeder::add_results(LiveUnit& live, std::size_t count) {
  Result blank;
  blank.workunit = live.unit.id;
  blank.run = live.unit.run;
  std::vector<Result> fresh(count, blank);
  std::vector<ResultId> ids = store_.insert_results(fresh);
  for (std::size_t i = 0; i < count; ++i) {
    fresh[i].id = ids[i];
    unit_of_[ids[i]] = &live;
    index(fresh[i]);
    live.results.push_back(fresh[i]);
  }
  return ids;
}

void Feeder::save(const LiveUnit& live) {
  store_.update_workunits({&live.unit, 1});
  unindex(live.unit);
  index(live.unit);
}

void Feeder::save(const Result& result) {
  store_.update_results({&result, 1});
  unindex(result);
  index(result);
}

void Feeder::drop(WorkunitId id) {
  auto found = units_.find(id);
  check(found != units_.end(), "dropping a unit that is not live");
  for (const Result& result : found->second.results) {
    unindex(result);
    unit_of_.erase(result.id);
  }
  unindex(found->second.unit);
  units_.erase(found);
}

void Feeder::index(const Workunit& unit) {
  by_state_[{unit.run, unit.state}].insert(unit.id);
  state_of_[unit.id] = unit.state;
}

void Feeder::unindex(const Workunit& unit) {
  auto indexed = state_of_.find(unit.id);
  by_state_[{unit.run, indexed->second}].erase(unit.id);
  state_of_.erase(indexed);
}

void Feeder::index(const Result& result) {
  if (result.server_state == ServerState::unsent) unsent_.insert(result.id);
  if (result.server_state == ServerState::in_progress) {
    in_progress_[result.host].insert(result.id);
    holder_[result.id] = result.host;
  }
}

void Feeder::unindex(const Result& result) {
  unsent_.erase(result.id);
  auto holder = holder_.find(result.id);
  if (holder == holder_.end()) return;
  auto held = in_progress_.find(holder->second);
  held->second.erase(result.id);
  if (held->second.empty()) in_progress_.erase(held);
  freed_.insert(holder->second);
  holder_.erase(holder);
}

}  // namespace quorate

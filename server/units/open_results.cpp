#include "server/units/open_results.h"

#include <utility>

namespace quorate {

void OpenResults::add(OpenResult result) {
  std::lock_guard lock(mutex_);
  ResultId id = result.id;
  if (results_.contains(id)) return;
  count_objects(result, 1);
  results_.emplace(id, std::move(result));
}

void OpenResults::remove(ResultId id) {
  std::lock_guard lock(mutex_);
  auto found = results_.find(id);
  if (found == results_.end()) return;
  count_objects(found->second, -1);
  results_.erase(found);
  removed_.push_back(id);
}

std::vector<ResultId> OpenResults::take_removed() {
  std::lock_guard lock(mutex_);
  return std::exchange(removed_, {});
}

void OpenResults::count_objects(const OpenResult& result, int by) {
  std::vector<Hash> named = result.deltas;
  named.insert(named.end(),
               {result.workunit, result.task->snapshot, result.task->shard});
  for (const Hash& hash : named) {
    int& uses = uses_[hash];
    uses += by;
    if (uses == 0) uses_.erase(hash);
  }
}

bool OpenResults::names(const Hash& object) const {
  std::lock_guard lock(mutex_);
  return uses_.contains(object);
}

std::optional<OpenResult> OpenResults::find(ResultId id) const {
  std::lock_guard lock(mutex_);
  auto found = results_.find(id);
  if (found == results_.end()) return std::nullopt;
  return found->second;
}

void OpenResults::hold(ResultId id, HostId host) {
  std::lock_guard lock(mutex_);
  on_hold_.emplace(id, Held{host, {}});
}

bool OpenResults::is_on_hold(ResultId id, HostId host) const {
  std::lock_guard lock(mutex_);
  auto found = on_hold_.find(id);
  return found != on_hold_.end() && found->second.host == host;
}

bool OpenResults::is_closed(ResultId id) const {
  std::lock_guard lock(mutex_);
  return !results_.contains(id) && !on_hold_.contains(id);
}

void OpenResults::set_host_key(ResultId id, const PublicKey& key) {
  std::lock_guard lock(mutex_);
  auto found = results_.find(id);
  if (found != results_.end()) found->second.host_key = key;
}

void OpenResults::set_uploaded(ResultId id, const Hash& update,
                               std::uint64_t size) {
  std::lock_guard lock(mutex_);
  if (auto held = on_hold_.find(id); held != on_hold_.end()) {
    held->second.payload = update;
  }
  auto found = results_.find(id);
  if (found == results_.end() || !found->second.uploaded.is_zero()) return;
  found->second.uploaded = update;
  found->second.uploaded_bytes = size;
}

std::vector<Hash> OpenResults::uploaded() const {
  std::lock_guard lock(mutex_);
  std::vector<Hash> payloads;
  for (const auto& [id, result] : results_) {
    if (!result.uploaded.is_zero()) payloads.push_back(result.uploaded);
  }
  for (const auto& [id, held] : on_hold_) {
    if (!held.payload.is_zero()) payloads.push_back(held.payload);
  }
  return payloads;
}

void OpenResults::add_witness(const Hash& workunit, WaitingWitness witness) {
  std::lock_guard lock(mutex_);
  witnesses_[workunit].push_back(std::move(witness));
}

std::vector<WaitingWitness> OpenResults::witnesses(const Hash& workunit) const {
  std::lock_guard lock(mutex_);
  auto found = witnesses_.find(workunit);
  return found == witnesses_.end() ? std::vector<WaitingWitness>()
                                   : found->second;
}

void OpenResults::forget_witnesses(const Hash& workunit) {
  std::lock_guard lock(mutex_);
  witnesses_.erase(workunit);
}

}  // namespace quorate

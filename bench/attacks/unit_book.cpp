#include "bench/attacks/unit_book.h"

#include "base/error.h"
#include "kernels/devices/backends.h"
#include "workunits/objects/safetensors.h"

namespace quorate::bench {
namespace {

// More than are ever open at once.
constexpr std::size_t kKept = 1024;
// Sealed tasks and snapshots are smaller than any shard of the bench.
constexpr std::size_t kShardBytes = 1 << 20;

}  // namespace

UnitBook::UnitBook(const ProjectId& project, const PublicKey& key)
    : project_(project), key_(key), backend_(make_backend("cpu")) {}

void UnitBook::add_object(const Hash& hash, Bytes bytes) {
  if (sha256(bytes) != hash) {
    throw Error(ErrorKind::corrupt,
                "object " + hash.hex() + ": the server sent other bytes");
  }
  bool is_shard = bytes.size() > kShardBytes;
  auto stored = std::make_shared<const Bytes>(std::move(bytes));
  if (!objects_.emplace(hash, std::move(stored)).second || is_shard) return;
  order_.push_back(hash);
  forget_old();
}

std::shared_ptr<const Unit> UnitBook::unit(const Hash& workunit) {
  auto known = units_.find(workunit);
  if (known != units_.end()) return known->second;
  auto sealed = objects_.at(workunit);
  TrainingTask task = decode_task(
      open_sealed(*sealed, SealKind::workunit, project_, key_, "workunit"));
  auto& base = parameters_[task.snapshot];
  if (!base) {
    base = std::make_shared<const std::vector<float>>(
        read_parameters(task.model, *objects_.at(task.snapshot), "snapshot"));
  }
  auto shard = objects_.at(task.shard);
  test::Work work{task, *base, Samples::read(task.model, *shard, "shard")};
  TrainingResult honest = test::compute(work, *backend_);
  auto unit = std::make_shared<const Unit>(
      Unit{workunit, *sealed, base, shard, work, std::move(honest)});
  units_.emplace(workunit, unit);
  unit_order_.push_back(workunit);
  forget_old();
  return unit;
}

void UnitBook::forget_old() {
  while (order_.size() > 2 * kKept) {
    objects_.erase(order_.front());
    parameters_.erase(order_.front());
    order_.pop_front();
  }
  while (unit_order_.size() > kKept) {
    units_.erase(unit_order_.front());
    unit_order_.pop_front();
  }
}

}  // namespace quorate::bench

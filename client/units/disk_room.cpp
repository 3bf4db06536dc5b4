#include "client/units/disk_room.h"

#include <algorithm>
#include <system_error>

#include <fmt/format.h>

#include "base/error.h"
#include "client/exchange/object_transfer.h"
#include "client/machine/settings.h"
#include "client/units/assigned_unit.h"
#include "workunits/models/model_spec.h"
#include "workunits/objects/update.h"

namespace quorate::client {
namespace {

std::uint64_t less(std::uint64_t from, std::uint64_t what) {
  return from - std::min(from, what);
}

std::uint64_t file_bytes(const fs::path& file) {
  std::error_code missing;
  const std::uintmax_t size = fs::file_size(file, missing);
  return missing ? 0 : size;
}

// As disk_mb counts, rounded up.
std::uint64_t in_mb(std::uint64_t bytes) {
  return (bytes + (1 << 20) - 1) >> 20;
}

}  // namespace

std::uint64_t result_bytes(const TrainingTask& work) {
  // Names, counts, hashes.
  constexpr std::uint64_t kAround = 1 << 16;
  const std::uint64_t values =
      parameter_count(work.model) +
      trainable_count(work.model) * state_arrays(work.optimizer.kind) +
      work.range.steps;
  const std::uint64_t checkpoint =
      sizeof(float) * values + sizeof(Hash) * digest_count(work) + kAround;
  // A new checkpoint is whole before it replaces the last one; the update is
  // written while the last one is there.
  return checkpoint + std::max(checkpoint, update_bytes(work));
}

UnitBytes bytes_of_unit(const Assignment& assignment, const TrainingTask& work,
                        const ObjectCache& cache) {
  UnitBytes bytes;
  bytes.files = result_bytes(work);
  for (ObjectKind kind :
       {ObjectKind::workunit, ObjectKind::snapshot, ObjectKind::shard}) {
    const ObjectRef& object = object_of(assignment, kind);
    bytes.objects += object.size;
    if (cache.contains(object)) continue;
    bytes.missing += less(object.size, file_bytes(cache.part(object)));
  }
  return bytes;
}

void remove_unfinished(const fs::path& folder) {
  std::error_code ignored;
  for (const fs::directory_entry& entry :
       fs::directory_iterator(folder, ignored)) {
    if (entry.path().extension() == ".tmp") fs::remove(entry.path(), ignored);
  }
}

std::uint64_t folder_bytes(const fs::path& folder) {
  std::uint64_t bytes = 0;
  std::error_code gone;
  fs::recursive_directory_iterator entry(folder, gone);
  for (const fs::recursive_directory_iterator end; !gone && entry != end;
       entry.increment(gone)) {
    std::error_code other;
    if (entry->is_regular_file(other)) bytes += file_bytes(entry->path());
  }
  return bytes;
}

DiskRoom::DiskRoom(fs::path data, fs::path project, const ObjectCache& cache)
    : data_(std::move(data)), project_(std::move(project)), cache_(cache) {}

std::uint64_t DiskRoom::written(ResultId result) const {
  return folder_bytes(project_ / "results" / std::to_string(result));
}

std::uint64_t DiskRoom::unwritten() const {
  std::uint64_t bytes = 0;
  for (const auto& [result, claim] : claims_) {
    bytes += less(claim, written(result));
  }
  return bytes;
}

std::uint64_t DiskRoom::excess(std::uint64_t bytes) const {
  const std::uint64_t wanted = bytes + unwritten();
  const std::uint64_t over_reserve =
      less(wanted + kDiskReserveBytes, free_space(data_));
  if (limit_ == 0) return over_reserve;
  return std::max(over_reserve, less(folder_bytes(data_) + wanted, limit_));
}

void DiskRoom::set_limit(std::uint64_t bytes, const std::set<Hash>& needed) {
  std::lock_guard lock(mutex_);
  if (bytes == limit_) return;
  limit_ = bytes;
  if (limit_ == 0) return;
  cache_.free(needed, less(folder_bytes(data_) + unwritten(), limit_));
}

// All that could go for it is the project's objects and results.
void DiskRoom::expect_fits_alone(ResultId result, const UnitBytes& unit) const {
  const std::uint64_t others =
      less(folder_bytes(data_), folder_bytes(project_ / "objects") +
                                    folder_bytes(project_ / "results"));
  const std::uint64_t needed = unit.objects + unit.files;
  if (limit_ == 0 || others + needed <= limit_) return;
  throw Error(ErrorKind::unsupported,
              fmt::format("result {}: its files need {} MB of disk, and other "
                          "files of the client have {} MB; the preference "
                          "disk_mb allows {}",
                          result, in_mb(needed), in_mb(others), in_mb(limit_)));
}

void DiskRoom::claim(ResultId result, const UnitBytes& unit,
                     const std::set<Hash>& needed) {
  std::lock_guard lock(mutex_);
  claims_.erase(result);
  expect_fits_alone(result, unit);
  const std::uint64_t more = unit.missing + less(unit.files, written(result));
  if (const std::uint64_t lacking = excess(more); lacking > 0) {
    cache_.free(needed, lacking);
  }
  if (excess(more) > 0) {
    const std::uint64_t room = free_space(data_);
    const std::uint64_t wanted = more + unwritten();
    if (room < wanted + kDiskReserveBytes) {
      throw Error(ErrorKind::io, little_disk_text(data_, room, wanted));
    }
    throw Error(
        ErrorKind::io,
        fmt::format("too little disk for one more result: {} MB are needed, "
                    "{} MB are used or promised to others, the preference "
                    "disk_mb allows {}: waiting for these to be sent",
                    in_mb(more), in_mb(folder_bytes(data_) + unwritten()),
                    in_mb(limit_)));
  }
  claims_[result] = unit.files;
}

void DiskRoom::release(ResultId result) {
  std::lock_guard lock(mutex_);
  claims_.erase(result);
}

bool DiskRoom::has_room(std::uint64_t bytes) const {
  std::lock_guard lock(mutex_);
  return excess(bytes) == 0;
}

}  // namespace quorate::client

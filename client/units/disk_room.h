// How much of the disk the client takes: the preference disk_mb bounds the
// whole data folder, and some of the disk stays free in any case. Room for all
// that a unit brings is claimed before anything of it but the sealed task is
// fetched, so that a project cannot fill the disk and no work is lost for lack
// of room at its end.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <set>

#include "client/exchange/object_cache.h"
#include "workunits/assignment.h"
#include "workunits/task.h"

namespace quorate::client {

// What a unit takes of the disk, in bytes.
struct UnitBytes {
  std::uint64_t objects = 0;  // all of them
  std::uint64_t missing = 0;  // of those, still to be fetched
  std::uint64_t files = 0;    // that computing it writes, at most
};
UnitBytes bytes_of_unit(const Assignment& assignment, const TrainingTask& work,
                        const ObjectCache& cache);

// The most bytes that the update and the checkpoints of a unit take at a time.
std::uint64_t result_bytes(const TrainingTask& work);

// Removes what a process that was killed left half written in a folder: nobody
// else may write there meanwhile.
void remove_unfinished(const fs::path& folder);

// Bytes of all files below a folder; what goes meanwhile may be left out.
std::uint64_t folder_bytes(const fs::path& folder);

// Safe to use from several threads. It counts what lies on the disk anew at
// every call (dozens of files), and beside it keeps only what was claimed and
// is not yet written.
class DiskRoom {
 public:
  // data: what disk_mb bounds. project: the folder in it that has `objects/`,
  // which is the cache's, and `results/`. The cache outlives this.
  DiskRoom(fs::path data, fs::path project, const ObjectCache& cache);

  // 0: no limit but the reserve. Where less is left of a new limit than there
  // is, what is not needed goes, the least recently used first.
  void set_limit(std::uint64_t bytes, const std::set<Hash>& needed);

  // Sees to it that the unit's objects and files fit, removing what is not
  // needed, and keeps room for its files until release(). Throws unsupported if
  // the limit is too low for the unit alone, io if others have to go first, or
  // the disk itself is too full.
  void claim(ResultId result, const UnitBytes& unit,
             const std::set<Hash>& needed);
  // What its files take is what they have now.
  void release(ResultId result);

  // Whether so much more fits now, with all that is claimed.
  bool has_room(std::uint64_t bytes) const;

 private:
  std::uint64_t unwritten() const;
  // By how much `bytes` more would exceed the limit or the reserve.
  std::uint64_t excess(std::uint64_t bytes) const;
  std::uint64_t written(ResultId result) const;
  void expect_fits_alone(ResultId result, const UnitBytes& unit) const;

  fs::path data_;
  fs::path project_;
  const ObjectCache& cache_;
  mutable std::mutex mutex_;
  std::uint64_t limit_ = 0;
  std::map<ResultId, std::uint64_t> claims_;  // bytes of their files
};

}  // namespace quorate::client

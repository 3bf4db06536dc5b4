// How much of each shard is handed out in the epoch under way: what a run's
// cursor needs to have several shards in progress, and to take them in any
// order. Shards are named by their index in the data set; the store names them
// by their place in the epoch's order, the permutation under the run's seed.
//
// Bounded by the data set: a few numbers in memory for each shard, and one row
// in the store for each that was begun, which the next epoch takes over.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <span>
#include <vector>

#include "workunits/workunit.h"

namespace quorate {

class EpochProgress {
 public:
  EpochProgress() = default;  // of no shards
  // shard_steps: whole minibatches of each shard. stored: of this epoch.
  EpochProgress(std::vector<std::uint32_t> shard_steps, std::uint64_t seed,
                std::uint32_t epoch,
                std::span<const ShardProgress> stored = {});

  // Nothing of this epoch is handed out.
  void begin(std::uint32_t epoch);
  // Everything is.
  bool is_done() const { return steps_left_ == 0; }
  // Of all shards.
  std::uint64_t epoch_steps() const { return epoch_steps_; }

  std::uint32_t first_step(std::uint32_t shard) const { return out_.at(shard); }
  std::uint32_t left(std::uint32_t shard) const {
    return steps_.at(shard) - out_.at(shard);
  }
  std::uint32_t place(std::uint32_t shard) const { return place_.at(shard); }
  // The shards of which something is handed out, and something left.
  const std::set<std::uint32_t>& begun() const { return begun_; }
  // The first in the epoch's order of which nothing is handed out.
  std::optional<std::uint32_t> next_new() const;

  // The next `steps` of a shard, of those left; what to store of it (without
  // the run).
  ShardProgress hand_out(std::uint32_t shard, std::uint32_t steps);

 private:
  bool is_new(std::uint32_t shard) const;
  void skip_begun();

  std::uint64_t seed_ = 0;
  std::uint32_t epoch_ = 0;
  std::vector<std::uint32_t> steps_;  // by shard
  std::vector<std::uint32_t> out_;    // by shard: steps handed out
  std::vector<std::uint32_t> order_;  // by place: the shard
  std::vector<std::uint32_t> place_;  // by shard
  std::uint32_t next_place_ = 0;      // no new shard stands before
  std::set<std::uint32_t> begun_;
  std::uint64_t epoch_steps_ = 0;
  std::uint64_t steps_left_ = 0;
};

}  // namespace quorate

#include "server/making/epoch_progress.h"

#include <algorithm>
#include <numeric>

#include "base/error.h"
#include "base/random.h"

namespace quorate {

EpochProgress::EpochProgress(std::vector<std::uint32_t> shard_steps,
                             std::uint64_t seed, std::uint32_t epoch,
                             std::span<const ShardProgress> stored)
    : seed_(seed),
      steps_(std::move(shard_steps)),
      epoch_steps_(
          std::accumulate(steps_.begin(), steps_.end(), std::uint64_t{0})) {
  begin(epoch);
  for (const ShardProgress& row : stored) {
    if (row.epoch != epoch || row.place >= order_.size()) continue;
    const std::uint32_t shard = order_[row.place];
    hand_out(shard, std::min(row.steps, left(shard)));
  }
}

void EpochProgress::begin(std::uint32_t epoch) {
  epoch_ = epoch;
  const auto count = static_cast<std::uint32_t>(steps_.size());
  out_.assign(count, 0);
  order_.resize(count);
  place_.resize(count);
  if (count > 0) {
    Permutation order(count, seed_, stream_of(RandomUse::shard_order), epoch);
    for (std::uint32_t at = 0; at < count; ++at) {
      order_[at] = order(at);
      place_[order_[at]] = at;
    }
  }
  next_place_ = 0;
  begun_.clear();
  steps_left_ = epoch_steps_;
  skip_begun();
}

bool EpochProgress::is_new(std::uint32_t shard) const {
  return out_[shard] == 0 && steps_[shard] > 0;
}

void EpochProgress::skip_begun() {
  while (next_place_ < order_.size() && !is_new(order_[next_place_])) {
    ++next_place_;
  }
}

std::optional<std::uint32_t> EpochProgress::next_new() const {
  if (next_place_ == order_.size()) return std::nullopt;
  return order_[next_place_];
}

ShardProgress EpochProgress::hand_out(std::uint32_t shard,
                                      std::uint32_t steps) {
  check(steps <= left(shard), "handing out more of a shard than is left");
  out_[shard] += steps;
  steps_left_ -= steps;
  if (left(shard) == 0) {
    begun_.erase(shard);
  } else if (out_[shard] > 0) {
    begun_.insert(shard);
  }
  skip_begun();
  return {.place = place_[shard], .epoch = epoch_, .steps = out_[shard]};
}

}  // namespace quorate

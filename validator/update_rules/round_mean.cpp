#include "validator/update_rules/round_mean.h"

#include <algorithm>
#include <array>

#include "base/arithmetic.h"
#include "base/element_loop.h"
#include "base/error.h"

namespace quorate {
namespace {

// Elements whose sums are held at a time: 4 KiB a level of the recursion.
constexpr std::size_t kBlock = 1024;
constexpr std::size_t kChain = 64;

// The sums of up to kChain deltas' elements from `first` on: four deltas at a
// time, so that the sums are loaded and stored a quarter as often.
void sum_chain(std::span<const Contribution> chain, std::size_t first,
               std::span<float> sums) {
  float* sum = sums.data();
  std::fill(sums.begin(), sums.end(), 0.0F);
  std::size_t n = 0;
  for (; n + 4 <= chain.size(); n += 4) {
    const float* a = chain[n].delta.data() + first;
    const float* b = chain[n + 1].delta.data() + first;
    const float* c = chain[n + 2].delta.data() + first;
    const float* d = chain[n + 3].delta.data() + first;
    for_each_element(sums.size(), [=](std::size_t i) {
      sum[i] = (((sum[i] + a[i]) + b[i]) + c[i]) + d[i];
    });
  }
  for (; n < chain.size(); ++n) {
    const float* delta = chain[n].delta.data() + first;
    for_each_element(sums.size(), [=](std::size_t i) { sum[i] += delta[i]; });
  }
}

// The same of any number of deltas. The order is that of ChainSum, turned
// inside out so that the inner loop runs over elements: one chain at a time,
// neighbours joined pairwise.
void sum_deltas(std::span<const Contribution> round, std::size_t first,
                std::span<float> sums) {
  if (round.size() <= kChain) {
    sum_chain(round, first, sums);
    return;
  }
  std::size_t left = kChain;
  while (left * 2 < round.size()) left *= 2;
  std::array<float, kBlock> right;
  sum_deltas(round.first(left), first, sums);
  sum_deltas(round.subspan(left), first, {right.data(), sums.size()});
  for_each_element(sums.size(), [&](std::size_t i) { sums[i] += right[i]; });
}

float reciprocal_of_count(std::span<const Contribution> contributions) {
  check(!contributions.empty(), "a round needs a result");
  return 1.0F / static_cast<float>(contributions.size());
}

}  // namespace

void for_means(
    std::span<const Contribution> contributions, ParameterRange range,
    const std::function<void(ParameterRange part, const float* mean)>& step) {
  const float reciprocal = reciprocal_of_count(contributions);
  std::array<float, kBlock> block;
  for (std::size_t done = 0; done < range.count; done += kBlock) {
    const ParameterRange part{range.first + done,
                              std::min(kBlock, range.count - done)};
    sum_deltas(contributions, done, {block.data(), part.count});
    float* mean = block.data();
    for_each_element(part.count, [=](std::size_t i) { mean[i] *= reciprocal; });
    step(part, mean);
  }
}

void take_mean_of_statistics(ParameterRange range, std::span<float> parameters,
                             std::span<const Contribution> contributions) {
  const float reciprocal = reciprocal_of_count(contributions);
  for (std::size_t i = 0; i < range.count; ++i) {
    float& w = parameters[range.first + i];
    ChainSum sum;
    for (const Contribution& one : contributions) sum.push(w + one.delta[i]);
    w = sum.total() * reciprocal;
  }
}

}  // namespace quorate

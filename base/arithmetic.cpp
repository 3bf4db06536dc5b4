#include "base/arithmetic.h"

#include <algorithm>

namespace quorate {
namespace {

constexpr std::size_t kBlock = 1024;
constexpr std::size_t kLanes = 32;

// One block of R1: term(lane sum, i) adds element i to its lane's sum.
template <class Term>
float block_value(std::size_t first, std::size_t end, Term term) {
  std::array<float, kLanes> lanes{};
  for (std::size_t i = first; i < end; ++i) {
    float& lane = lanes[(i - first) % kLanes];
    lane = term(lane, i);
  }
  for (std::size_t h = kLanes / 2; h > 0; h /= 2) {
    for (std::size_t l = 0; l < h; ++l) lanes[l] = lanes[l] + lanes[l + h];
  }
  return lanes[0];
}

template <class Term>
float reduce_r1(std::size_t n, Term term) {
  PairSum total;
  for (std::size_t first = 0; first < n; first += kBlock) {
    total.push(block_value(first, std::min(n, first + kBlock), term));
  }
  return total.total();
}

}  // namespace

void PairSum::push(float value) {
  std::size_t level = 0;
  for (; (count_ >> level & 1) != 0; ++level) value = partials_[level] + value;
  partials_[level] = value;
  ++count_;
}

float PairSum::total() const {
  float sum = 0.0F;
  bool empty = true;
  for (std::size_t level = 0; level < partials_.size(); ++level) {
    if ((count_ >> level & 1) == 0) continue;
    sum = empty ? partials_[level] : partials_[level] + sum;
    empty = false;
  }
  return sum;
}

float sum_r1(std::span<const float> x) {
  return reduce_r1(x.size(),
                   [x](float sum, std::size_t i) { return sum + x[i]; });
}

float dot_r1(std::span<const float> x, std::span<const float> y) {
  return reduce_r1(x.size(), [x, y](float sum, std::size_t i) {
    return fma(x[i], y[i], sum);
  });
}

void ChainSum::push(float value) {
  if (length_ == 64) {
    pairs_.push(chain_);
    chain_ = 0.0F;
    length_ = 0;
  }
  chain_ = chain_ + value;
  ++length_;
}

float ChainSum::total() const {
  if (length_ == 0) return pairs_.total();
  PairSum all = pairs_;
  all.push(chain_);
  return all.total();
}

bool all_finite(std::span<const float> x) {
  return std::all_of(x.begin(), x.end(), [](float v) {
    return (bits(v) & 0x7f800000) != 0x7f800000;
  });
}

}  // namespace quorate

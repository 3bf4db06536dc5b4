#include "base/random.h"

#include "base/error.h"

namespace quorate {
namespace {

constexpr std::uint32_t kMultiplier0 = 0xD2511F53;
constexpr std::uint32_t kMultiplier1 = 0xCD9E8D57;
constexpr std::uint32_t kWeyl0 = 0x9E3779B9;
constexpr std::uint32_t kWeyl1 = 0xBB67AE85;

}  // namespace

PhiloxBlock philox(std::uint64_t key, const PhiloxBlock& counter) {
  PhiloxBlock c = counter;
  auto k0 = static_cast<std::uint32_t>(key);
  auto k1 = static_cast<std::uint32_t>(key >> 32);
  for (int round = 0; round < 10; ++round) {
    std::uint64_t p0 = static_cast<std::uint64_t>(kMultiplier0) * c[0];
    std::uint64_t p1 = static_cast<std::uint64_t>(kMultiplier1) * c[2];
    c = {static_cast<std::uint32_t>(p1 >> 32) ^ c[1] ^ k0,
         static_cast<std::uint32_t>(p1),
         static_cast<std::uint32_t>(p0 >> 32) ^ c[3] ^ k1,
         static_cast<std::uint32_t>(p0)};
    k0 += kWeyl0;
    k1 += kWeyl1;
  }
  return c;
}

std::uint32_t random_word(std::uint64_t key, std::uint32_t stream,
                          std::uint32_t step, std::uint64_t i) {
  std::uint64_t index = i / 4;
  PhiloxBlock block =
      philox(key, {static_cast<std::uint32_t>(index),
                   static_cast<std::uint32_t>(index >> 32), stream, step});
  return block[i % 4];
}

std::uint32_t RandomStream::next() {
  std::uint64_t word = index_ % 4;
  if (word == 0) {
    std::uint64_t counter = index_ / 4;
    block_ = philox(
        key_, {static_cast<std::uint32_t>(counter),
               static_cast<std::uint32_t>(counter >> 32), stream_, step_});
  }
  ++index_;
  return block_[word];
}

float uniform01(std::uint32_t word) {
  return static_cast<float>(word >> 8) * 0x1p-24F;
}

float uniform11(std::uint32_t word) {
  return (uniform01(word) - 0.5F) * 2.0F;
}

std::uint32_t integer_below(std::uint32_t word, std::uint32_t n) {
  return static_cast<std::uint32_t>((static_cast<std::uint64_t>(word) * n) >>
                                    32);
}

Permutation::Permutation(std::uint32_t n, std::uint64_t key,
                         std::uint32_t stream, std::uint32_t epoch)
    : n_(n), key_(key), stream_(stream), epoch_(epoch), half_bits_(1) {
  check(n > 0, "a permutation needs at least one element");
  while ((std::uint64_t{1} << (2 * half_bits_)) < n) ++half_bits_;
}

std::uint32_t Permutation::operator()(std::uint32_t x) const {
  check(x < n_, "permutation index out of range");
  std::uint32_t mask = (1U << half_bits_) - 1;
  do {
    std::uint32_t left = x >> half_bits_;
    std::uint32_t right = x & mask;
    for (std::uint32_t round = 0; round < 4; ++round) {
      std::uint32_t word =
          philox(key_, {right, round, stream_, epoch_})[0] & mask;
      std::uint32_t mixed = left ^ word;
      left = right;
      right = mixed;
    }
    x = left << half_bits_ | right;
  } while (x >= n_);
  return x;
}

}  // namespace quorate

// Philox4x32-10: counter-based random numbers, the same on every device. No
// secrets: see base/crypto.h for those. docs/numerics.md, section 8.
// Source: Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", SC11.
#pragma once

#include <array>
#include <cstdint>

namespace quorate {

using PhiloxBlock = std::array<std::uint32_t, 4>;

// The four words at `counter` under the 64-bit `key` (low word first).
PhiloxBlock philox(std::uint64_t key, const PhiloxBlock& counter);

// What a stream of random numbers is used for; the stream number is
// use << 16 | index.
enum class RandomUse : std::uint32_t {
  initialization = 0,  // index: tensor
  dropout = 1,         // index: layer
  augmentation = 2,
  shard_order = 3,
  sample_order = 4,  // index: shard
  codec = 5,
  dataset_shuffle = 6,
  window_shift = 7,  // index: shard
  gossip_peer = 8,
  simulation = 9,  // none of an update's bits
};
constexpr std::uint32_t stream_of(RandomUse use, std::uint32_t index = 0) {
  return static_cast<std::uint32_t>(use) << 16 | index;
}

// Word i of a stream at a step: word i mod 4 of counter index i / 4.
std::uint32_t random_word(std::uint64_t key, std::uint32_t stream,
                          std::uint32_t step, std::uint64_t i);

// The same words one after another, a block at a time.
class RandomStream {
 public:
  RandomStream(std::uint64_t key, std::uint32_t stream, std::uint32_t step)
      : key_(key), stream_(stream), step_(step) {}
  std::uint32_t next();

 private:
  std::uint64_t key_;
  std::uint32_t stream_;
  std::uint32_t step_;
  std::uint64_t index_ = 0;
  PhiloxBlock block_{};
};

// Uniform in [0,1) and [-1,1), exact.
float uniform01(std::uint32_t word);
float uniform11(std::uint32_t word);
// An integer in [0, n).
std::uint32_t integer_below(std::uint32_t word, std::uint32_t n);

// A keyed permutation of [0, n): where index x goes, in O(1) memory.
class Permutation {
 public:
  // n in [1, 2^32). epoch: which of the permutations under this key.
  Permutation(std::uint32_t n, std::uint64_t key, std::uint32_t stream,
              std::uint32_t epoch);
  // x in [0, n).
  std::uint32_t operator()(std::uint32_t x) const;

 private:
  std::uint32_t n_;
  std::uint64_t key_;
  std::uint32_t stream_;
  std::uint32_t epoch_;
  std::uint32_t half_bits_;
};

}  // namespace quorate

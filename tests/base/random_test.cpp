#include "base/random.h"

#include <vector>

#include <doctest/doctest.h>

namespace quorate {

TEST_CASE("philox gives the published answers") {
  CHECK(philox(0, {0, 0, 0, 0}) ==
        PhiloxBlock{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8});
  CHECK(philox(0x299f31d0a4093822,
               {0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}) ==
        PhiloxBlock{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1});
}

TEST_CASE("a stream yields the words at their indices") {
  RandomStream words(99, stream_of(RandomUse::dropout, 3), 7);
  for (std::uint64_t i = 0; i < 50; ++i) {
    CHECK(words.next() ==
          random_word(99, stream_of(RandomUse::dropout, 3), 7, i));
  }
}

TEST_CASE("an index beyond 2^32 blocks counts in the second word") {
  std::uint64_t block = (1ULL << 32) + 5;
  CHECK(random_word(1, 2, 3, 4 * block + 2) == philox(1, {5, 1, 2, 3})[2]);
}

TEST_CASE("stream numbers hold use and index") {
  CHECK(stream_of(RandomUse::sample_order, 9) == 0x00040009);
}

TEST_CASE("uniform values cover their range exactly") {
  CHECK(uniform01(0) == 0.0F);
  CHECK(uniform01(0xffffffff) == 1.0F - 0x1p-24F);
  CHECK(uniform11(0) == -1.0F);
  CHECK(uniform11(0x80000000) == 0.0F);
  CHECK(uniform11(0xffffffff) == 1.0F - 0x1p-23F);
}

TEST_CASE("integers stay below their bound") {
  CHECK(integer_below(0xffffffff, 10) == 9);
  CHECK(integer_below(0, 10) == 0);
  CHECK(integer_below(0x80000000, 10) == 5);
}

TEST_CASE("a permutation meets every index once") {
  for (std::uint32_t n : {1U, 2U, 5U, 1000U, 50000U}) {
    CAPTURE(n);
    Permutation permutation(n, 42, stream_of(RandomUse::sample_order), 0);
    std::vector<int> met(n, 0);
    for (std::uint32_t x = 0; x < n; ++x) ++met.at(permutation(x));
    bool all_once = true;
    for (int count : met) all_once = all_once && count == 1;
    CHECK(all_once);
  }
}

TEST_CASE("epochs, keys and streams have their own orders") {
  auto order = [](std::uint64_t key, std::uint32_t stream,
                  std::uint32_t epoch) {
    Permutation permutation(1000, key, stream, epoch);
    std::vector<std::uint32_t> places;
    for (std::uint32_t x = 0; x < 1000; ++x) places.push_back(permutation(x));
    return places;
  };
  CHECK(order(1, 2, 3) == order(1, 2, 3));
  CHECK(order(1, 2, 3) != order(1, 2, 4));
  CHECK(order(1, 2, 3) != order(1, 9, 3));
  CHECK(order(1, 2, 3) != order(8, 2, 3));
}

TEST_CASE("a permutation follows the text of the specification") {
  // given n = 5: h = 2, indices of 4 bits
  std::uint32_t n = 5;
  auto once = [](std::uint32_t x) {
    std::uint32_t left = x >> 2;
    std::uint32_t right = x & 3;
    for (std::uint32_t i = 0; i < 4; ++i) {
      std::uint32_t word = philox(77, {right, i, 6, 1})[0] & 3;
      std::uint32_t next = left ^ word;
      left = right;
      right = next;
    }
    return left << 2 | right;
  };
  Permutation permutation(n, 77, 6, 1);
  for (std::uint32_t x = 0; x < n; ++x) {
    std::uint32_t expected = once(x);
    while (expected >= n) expected = once(expected);
    CHECK(permutation(x) == expected);
  }
}

}  // namespace quorate

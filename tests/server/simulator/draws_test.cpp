#include "server/simulator/scenario/draws.h"

#include <cmath>

#include <doctest/doctest.h>

namespace quorate {
namespace {

constexpr int kMany = 20'000;

TEST_CASE("draws are the same for the same seed and owner, and else others") {
  Draws first(1, 2);
  Draws again(1, 2);
  Draws other_seed(2, 2);
  Draws other_owner(1, 3);
  int same = 0;
  for (int i = 0; i < 100; ++i) {
    const std::uint64_t word = first.word();
    CHECK(word == again.word());
    same += word == other_seed.word();
    same += word == other_owner.word();
  }
  CHECK(same == 0);
}

TEST_CASE("draws have the distributions that they are named for") {
  Draws draws(5, 0);
  double sum = 0;
  double squares = 0;
  double exponential = 0;
  int below_median = 0;
  int within_sigma = 0;
  int happened = 0;
  for (int i = 0; i < kMany; ++i) {
    const double normal = draws.normal();
    sum += normal;
    squares += normal * normal;
    exponential += draws.exponential(Seconds(30)).count();
    const double speed = draws.of({4, 0.5});
    below_median += speed < 4;
    within_sigma += std::abs(std::log(speed / 4)) < 0.5;
    happened += draws.happens(0.2);
  }
  CHECK(std::abs(sum / kMany) < 0.03);
  CHECK(std::abs(squares / kMany - 1) < 0.05);
  CHECK(std::abs(exponential / kMany - 30) < 1);
  CHECK(std::abs(below_median / double{kMany} - 0.5) < 0.02);
  CHECK(std::abs(within_sigma / double{kMany} - 0.6827) < 0.02);
  CHECK(std::abs(happened / double{kMany} - 0.2) < 0.015);
  CHECK(draws.of({4, 0}) == 4);
  CHECK_FALSE(draws.happens(0));
}

}  // namespace
}  // namespace quorate

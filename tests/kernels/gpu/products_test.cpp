#include "kernels/gpu/products.h"

#include <doctest/doctest.h>

#include "base/error.h"

namespace quorate {
namespace {

constexpr std::uint32_t kUnits = 80;

struct PlanCase {
  const char* what;
  ProductKind kind;
  std::uint32_t rows, cols, depth, matrices, range;
  std::uint32_t tile;
  bool is_split, is_narrow;
};

constexpr PlanCase kPlans[] = {
    {"a large product", ProductKind::ab, 4096, 4096, 1024, 1, Q_ALL_K, 128,
     false, false},
    {"one of medium size", ProductKind::abt, 1024, 1024, 256, 1, Q_ALL_K, 64,
     false, false},
    {"few results of long sums", ProductKind::atb, 64, 576, 32768, 1, Q_ALL_K,
     64, true, false},
    {"few results of short sums", ProductKind::ab, 64, 64, 256, 1, Q_ALL_K, 64,
     false, false},
    {"sums so long that a group would take too long", ProductKind::ab, 8192,
     8192, 65536, 1, Q_ALL_K, 128, true, false},
    {"attention, never in parts", ProductKind::ab, 1024, 64, 1024, 2,
     Q_K_TO_ROWS, 64, false, false},
    {"attention of many heads", ProductKind::ab, 1024, 128, 1024, 512,
     Q_K_TO_ROWS, 64, false, false},
    {"a depthwise convolution", ProductKind::convolution, 100000, 1, 9, 256,
     Q_ALL_K, 64, false, true},
    {"its weights' gradient", ProductKind::convolution_dw, 9, 1, 100000, 256,
     Q_ALL_K, 64, true, true},
    {"few channels without groups", ProductKind::convolution, 100000, 3, 27, 1,
     Q_ALL_K, 64, false, false},
};

}  // namespace

TEST_CASE("the plan of a product fits its shape") {
  for (const PlanCase& c : kPlans) {
    CAPTURE(c.what);
    QProduct p{};
    p.rows = c.rows;
    p.cols = c.cols;
    p.depth = c.depth;
    p.matrices = c.matrices;
    p.range = c.range;
    ProductPlan plan = plan_product(p, c.kind, kUnits);
    CHECK(plan.is_narrow == c.is_narrow);
    CHECK(plan.tile == c.tile);
    CHECK(plan.is_split() == c.is_split);
    CHECK(plan.segments == (c.depth + 255) / 256);
    CHECK(plan.segments_per_round >= 1);
  }
}

TEST_CASE("partial sums take bounded memory") {
  QProduct p{};
  p.rows = 4096;
  p.cols = 4096;
  p.depth = 1 << 20;
  p.matrices = 1;
  ProductPlan plan = plan_product(p, ProductKind::ab, kUnits);
  REQUIRE(plan.is_split());
  CHECK(plan.segments_per_round == 1);
}

TEST_CASE("a division by multiplying is exact") {
  for (std::uint32_t divisor : {1U, 2U, 3U, 5U, 7U, 9U, 64U, 255U, 641U, 65535U,
                                65537U, 123456789U, 0x7fffffffU}) {
    QDivisor by = divisor_of(divisor);
    auto divide = [&](std::uint32_t number) {
      auto high = static_cast<std::uint32_t>(
          std::uint64_t{number} * by.multiplier >> 32);
      return (high + number) >> by.shift;
    };
    std::uint32_t wrong = 0;
    for (std::uint64_t i = 0; i < 1ULL << 31; i += 9973) {
      auto number = static_cast<std::uint32_t>(i);
      // Around multiples, too, where a quotient steps.
      std::uint32_t multiple = number / divisor * divisor;
      for (std::uint32_t n :
           {number, multiple, multiple - (multiple ? 1U : 0U)}) {
        wrong += divide(n) == n / divisor ? 0U : 1U;
      }
    }
    CAPTURE(divisor);
    CHECK(wrong == 0);
    CHECK(divide(0x7fffffff) == 0x7fffffff / divisor);
  }
}

TEST_CASE("what is too large for a word of a GPU is refused in words") {
  CHECK(gpu_word(0x7fffffff) == 0x7fffffff);
  CHECK_THROWS_WITH_AS(gpu_word(std::size_t{1} << 31),
                       doctest::Contains("use the device \"cpu\""), Error);
}

}  // namespace quorate

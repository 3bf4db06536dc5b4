#include "validator/update_bound.h"

#include <cmath>
#include <limits>
#include <vector>

#include <doctest/doctest.h>

#include "tests/support/samples.h"

namespace quorate {
namespace {

UpdateSize size(std::vector<double> norms, double steps = 8,
                double learning_rate = 0.1) {
  return {std::move(norms), steps, learning_rate};
}

TEST_CASE("the size of an update is how far each tensor moved") {
  const TrainingTask task = test::sample_task();
  const std::size_t count = parameter_count(task.model);
  std::vector<float> update(count, 0.0F);
  update[0] = 3.0F;
  update[1] = -4.0F;
  update[count - 1] = -2.0F;
  const UpdateSize found = size_of(task, update);
  REQUIRE(found.norms.size() == parameters_of(task.model).size());
  CHECK(found.norms.front() == 5.0);
  CHECK(found.norms.back() == 2.0);
  CHECK(found.norm() == doctest::Approx(std::sqrt(29.0)));
  CHECK(found.steps == task.range.steps);
}

TEST_CASE("the largest floats have a size, too") {
  const TrainingTask task = test::sample_task();
  const std::vector<float> update(parameter_count(task.model),
                                  std::numeric_limits<float>::max());
  UpdateBound bound;
  bound.add_confirmed(size_of(task, std::vector<float>(update.size(), 1.0F)));
  const auto excess = bound.excess_of(size_of(task, update));
  REQUIRE(excess.has_value());
  CHECK(excess->times > 1e38);
  CHECK(excess->times < std::numeric_limits<double>::infinity());
}

TEST_CASE("an update may be a few times as large as the largest confirmed") {
  UpdateBound bound;
  CHECK_FALSE(bound.is_known());
  bound.add_confirmed(size({1, 10}));
  bound.add_confirmed(size({2, 5}));
  CHECK(bound.is_known());
  CHECK_FALSE(bound.excess_of(size({8, 40})).has_value());
  CHECK(bound.excess_of(size({8.1, 40})).value().tensor == 0);
  CHECK(bound.excess_of(size({8.1, 41})).value().tensor == 1);
  CHECK(bound.excess_of(size({0, 80})).value().times == doctest::Approx(8));
}

TEST_CASE("a longer unit goes further, and so does a higher rate") {
  UpdateBound bound;
  bound.add_confirmed(size({10}, 8, 0.1));
  CHECK(bound.excess_of(size({100}, 8, 0.1)).has_value());
  CHECK_FALSE(bound.excess_of(size({100}, 24, 0.1)).has_value());
  CHECK_FALSE(bound.excess_of(size({100}, 8, 0.3)).has_value());
  // but not a shorter one, nor a lower rate, less far
  CHECK_FALSE(bound.excess_of(size({40}, 1, 0.001)).has_value());
}

TEST_CASE("a tensor that did not move may move a little") {
  UpdateBound bound;
  bound.add_confirmed(size({100, 0}));
  CHECK_FALSE(bound.excess_of(size({100, 4})).has_value());
  CHECK(bound.excess_of(size({100, 5})).has_value());
  UpdateBound still;
  still.add_confirmed(size({0, 0}));
  CHECK_FALSE(still.excess_of(size({0, 0})).has_value());
  CHECK(still.excess_of(size({0, 1e-9})).has_value());
}

TEST_CASE("only the last confirmed ones are compared with") {
  UpdateBound bound;
  bound.add_confirmed(size({1000}));
  for (std::size_t i = 0; i < UpdateBound::kWindow; ++i) {
    CHECK_FALSE(bound.excess_of(size({1000})).has_value());
    bound.add_confirmed(size({1}));
  }
  CHECK(bound.excess_of(size({5})).has_value());
}

}  // namespace
}  // namespace quorate

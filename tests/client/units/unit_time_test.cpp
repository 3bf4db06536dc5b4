#include "client/units/unit_time.h"

#include <doctest/doctest.h>

#include "base/error.h"
#include "tests/support/samples.h"
#include "workunits/models/model_spec.h"

namespace quorate::client {

TEST_CASE("a unit's time follows from its operations and the speed") {
  TrainingTask work = test::sample_task();
  const double operations =
      training_operations(work.model) * work.range.batch * work.range.steps;
  CHECK(estimated_time(work, operations).count() == doctest::Approx(1));
  work.range.steps *= 3;
  CHECK(estimated_time(work, operations).count() == doctest::Approx(3));
  CHECK(estimated_time(work, 0) == Seconds(0));
}

TEST_CASE("how long a unit may compute") {
  constexpr Seconds kDay{86400};
  struct Row {
    Seconds estimate;
    Seconds longest;
    Seconds most;
  };
  const Row table[] = {
      {Seconds(0), kDay, kDay},              // a first result
      {Seconds(0), Seconds(0), Seconds(0)},  // and nothing else bounds it
      {Seconds(1), kDay, Seconds(601)},
      {Seconds(100), kDay, Seconds(3000)},
      {Seconds(100), Seconds(0), Seconds(3000)},
      {Seconds(9000), kDay, kDay},
  };
  for (const Row& row : table) {
    CAPTURE(row.estimate.count());
    CHECK(most_time(row.estimate, row.longest) == row.most);
  }
}

TEST_CASE("a unit that would take too long is refused with both times") {
  CHECK_NOTHROW(expect_short_enough(1, Seconds(7200), Seconds(7200)));
  CHECK_NOTHROW(expect_short_enough(1, Seconds(1e9), Seconds(0)));
  CHECK_THROWS_WITH_AS(
      expect_short_enough(7, Seconds(36000), Seconds(7200)),
      "result 7: would take some 10 hours at the speed of this device's last "
      "result; the preference unit_hours allows 2",
      Error);
}

}  // namespace quorate::client

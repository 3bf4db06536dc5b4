#include "client/units/assigned_unit.h"

#include <doctest/doctest.h>

#include "base/error.h"
#include "tests/support/samples.h"
#include "workunits/models/model_spec.h"
#include "workunits/objects/shard.h"

namespace quorate::client {

TEST_CASE("a unit says how large its objects can be") {
  TrainingTask work = test::sample_task();
  std::uint64_t snapshot = most_bytes(work, ObjectKind::snapshot);
  CHECK(snapshot >= 4 * parameter_count(work.model));
  CHECK(snapshot <= 4 * parameter_count(work.model) + (1 << 20));
  std::uint64_t samples = std::uint64_t{kShardSamples} * inputs_of(work.model);
  CHECK(most_bytes(work, ObjectKind::shard) > samples);
  CHECK(most_bytes(work, ObjectKind::shard) < 2 * samples + (2 << 20));

  ObjectRef object{ObjectKind::snapshot, {}, snapshot};
  CHECK_NOTHROW(expect_size(object, snapshot));
  ++object.size;
  CHECK_THROWS_WITH_AS(expect_size(object, snapshot),
                       doctest::Contains("needs at most"), Error);
}

}  // namespace quorate::client

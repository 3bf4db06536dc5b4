#include "client/units/assigned_unit.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/arithmetic.h"
#include "base/error.h"
#include "workunits/models/model_spec.h"
#include "workunits/objects/shard.h"
#include "workunits/objects/token_shard.h"
#include "workunits/sealed.h"

namespace quorate::client {
namespace {

void expect_same(const Hash& named, const ObjectRef& given, ResultId result) {
  if (named == given.hash) return;
  throw Error(
      ErrorKind::corrupt,
      fmt::format("result {}: the workunit names {} {}, the project "
                  "sent {}",
                  result, name_of(given.kind), named.hex(), given.hash.hex()));
}

}  // namespace

std::uint64_t most_bytes(const TrainingTask& work, ObjectKind kind) {
  constexpr std::uint64_t kContainer = 1 << 20;  // around the values
  if (kind == ObjectKind::snapshot) {
    return sizeof(float) * parameter_count(work.model) + kContainer;
  }
  if (takes_text(work.model)) return kShardTokens + kContainer;
  return std::uint64_t{kShardSamples} * (inputs_of(work.model) + 1) +
         kContainer;
}

void expect_size(const ObjectRef& object, std::uint64_t most) {
  if (object.size <= most) return;
  throw Error(
      ErrorKind::denied,
      fmt::format("{} {}: has {} bytes, the workunit needs at most {}",
                  name_of(object.kind), object.hash.hex(), object.size, most));
}

const ObjectRef& object_of(const Assignment& assignment, ObjectKind kind) {
  auto found =
      std::find_if(assignment.objects.begin(), assignment.objects.end(),
                   [&](const ObjectRef& ref) { return ref.kind == kind; });
  if (found == assignment.objects.end()) {
    throw Error(ErrorKind::corrupt,
                fmt::format("result {}: the project names no {}",
                            assignment.result, name_of(kind)));
  }
  return *found;
}

TrainingTask open_unit(const Assignment& assignment, const ObjectCache& cache,
                       const Project& project) {
  Bytes sealed = cache.read(object_of(assignment, ObjectKind::workunit));
  TrainingTask work = decode_task(
      open_sealed(sealed, SealKind::workunit, project.id, project.statement.key,
                  fmt::format("workunit of result {}", assignment.result)));
  expect_same(work.snapshot, object_of(assignment, ObjectKind::snapshot),
              assignment.result);
  expect_same(work.shard, object_of(assignment, ObjectKind::shard),
              assignment.result);
  if (work.arithmetic != kArithmeticVersion) {
    throw Error(
        ErrorKind::unsupported,
        fmt::format("result {}: needs arithmetic {}, this client has "
                    "{}: update the client",
                    assignment.result, work.arithmetic, kArithmeticVersion));
  }
  return work;
}

}  // namespace quorate::client

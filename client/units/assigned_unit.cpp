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

[[noreturn]] void throw_not_speaking(const SigningKey& key,
                                     const std::string& what) {
  throw Error(
      ErrorKind::denied,
      fmt::format("{}: {}", what,
                  key.is_revoked
                      ? "the project has revoked the key that sealed it"
                      : "the time of the key that sealed it is over: its "
                        "operator must renew it, with `quorate keys renew`"));
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

AssignedUnit open_unit(const Assignment& assignment, const ObjectCache& cache,
                       const Project& project, Millis unix_ms) {
  const std::string what =
      fmt::format("workunit of result {}", assignment.result);
  const Keyring& keys = project.statement.keys;
  Bytes sealed = cache.read(object_of(assignment, ObjectKind::workunit));
  TrainingTask work =
      decode_task(open_sealed(sealed, SealKind::workunit, keys, what));
  const SigningKey& sealer =
      keys.number == 0 ? keys.current() : sealer_of(sealed, keys, what);
  if (!speaks(sealer, unix_ms)) throw_not_speaking(sealer, what);
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
  return {std::move(work), sealer.key};
}

}  // namespace quorate::client

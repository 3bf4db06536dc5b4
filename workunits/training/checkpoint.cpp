// Grammar, all integers and numbers little-endian:
//   "QRTCKPT1", workunit hash [32], steps done u32, diverged step u32,
//   losses f32 [steps done], digest count u32, digests [32] each,
//   parameter count u64, parameters f32 each, arrays of the optimiser's state,
//   one (sgd) or two (adamw) of the parameters that are learned, f32 each,
//   SHA-256 of all before it [32].
#include "workunits/training/checkpoint.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/error.h"
#include "workunits/training/float_bytes.h"

namespace quorate {
namespace {

constexpr std::string_view kMagic = "QRTCKPT1";

std::vector<float> get_floats(ByteReader& in, std::uint64_t count) {
  ByteView raw = in.take(count * sizeof(float));
  std::vector<float> values(count);
  std::copy(raw.begin(), raw.end(),
            reinterpret_cast<std::uint8_t*>(values.data()));
  return values;
}

TrainerState read_state(ByteReader& in, const TrainingTask& task) {
  TrainerState state;
  state.steps_done = in.get<std::uint32_t>();
  state.diverged_step = in.get<std::uint32_t>();
  if (state.steps_done > task.range.steps ||
      (state.diverged_step != 0 &&
       state.diverged_step != state.steps_done + 1)) {
    throw Error(ErrorKind::corrupt, "steps beyond the unit's");
  }
  state.losses = get_floats(in, state.steps_done);
  auto digests = in.get<std::uint32_t>();
  if (digests > digest_count(task)) {
    throw Error(ErrorKind::corrupt, "more digests than the unit has");
  }
  state.digests.resize(digests);
  for (Hash& digest : state.digests) in.get_bytes(digest.bytes);
  auto parameters = in.get<std::uint64_t>();
  if (parameters != parameter_count(task.model)) {
    throw Error(ErrorKind::corrupt,
                fmt::format("expected {} parameters, found {}",
                            parameter_count(task.model), parameters));
  }
  state.parameters = get_floats(in, parameters);
  state.optimizer = get_floats(
      in, trainable_count(task.model) * state_arrays(task.optimizer.kind));
  in.expect_end();
  return state;
}

}  // namespace

void save_checkpoint(const fs::path& path, const Hash& workunit,
                     const TrainerState& state) {
  check(state.losses.size() == state.steps_done,
        "a checkpoint keeps a whole state");
  ByteWriter out;
  out.put_bytes(as_bytes(kMagic));
  out.put_bytes(workunit.view());
  out.put(state.steps_done);
  out.put(state.diverged_step);
  out.put_bytes(bytes_of(state.losses));
  out.put(static_cast<std::uint32_t>(state.digests.size()));
  for (const Hash& digest : state.digests) out.put_bytes(digest.view());
  out.put(static_cast<std::uint64_t>(state.parameters.size()));
  out.put_bytes(bytes_of(state.parameters));
  out.put_bytes(bytes_of(state.optimizer));
  Bytes bytes = out.take();
  Hash hash = sha256(bytes);
  bytes.insert(bytes.end(), hash.bytes.begin(), hash.bytes.end());
  write_file_durably(path, bytes);
}

std::optional<TrainerState> load_checkpoint(const fs::path& path,
                                            const Hash& workunit,
                                            const TrainingTask& task) {
  if (!fs::exists(path)) return std::nullopt;
  std::string what = fmt::format("checkpoint {}", path.string());
  // Parameters and two arrays of state, up to 2^30 of each.
  constexpr std::uint64_t kMaxBytes = 3 * (1ULL << 32) + (1ULL << 24);
  Bytes bytes = read_file(path, kMaxBytes);
  ByteReader in(bytes, what);
  try {
    if (in.left() < sizeof(Hash)) in.take(sizeof(Hash));
    ByteView body = in.take(in.left() - sizeof(Hash));
    Hash found;
    in.get_bytes(found.bytes);
    if (sha256(body) != found) {
      throw Error(ErrorKind::corrupt, "its bytes have changed");
    }
    ByteReader fields(body, what);
    if (as_text(fields.take(kMagic.size())) != kMagic) {
      throw Error(ErrorKind::corrupt, "not a checkpoint of this version");
    }
    Hash unit;
    fields.get_bytes(unit.bytes);
    if (unit != workunit) {
      throw Error(ErrorKind::corrupt, "of another unit, " + unit.hex());
    }
    return read_state(fields, task);
  } catch (const Error& error) {
    throw Error(error.kind(), fmt::format("{}: {}", what, error.what()));
  }
}

}  // namespace quorate

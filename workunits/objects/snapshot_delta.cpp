#include "workunits/objects/snapshot_delta.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <optional>
#include <utility>

#include "base/error.h"
#include "base/parallel.h"
#include "workunits/objects/safetensors.h"
#include "workunits/objects/update.h"

namespace quorate {
namespace {

TrainingTask task_for(const ModelSpec& model, Codec codec) {
  check(codec != Codec::fp32, "a delta has a codec of blocks");
  TrainingTask task;
  task.model = model;
  task.codec = codec;
  return task;
}

Codec codec_of(ByteView delta, const std::string& what) {
  const Safetensors file(delta, what);
  const auto named = file.metadata().find("codec");
  const auto codec = named == file.metadata().end()
                         ? std::nullopt
                         : codec_called(named->second);
  if (codec && *codec != Codec::fp32) return *codec;
  throw Error(ErrorKind::corrupt, what + ": it names no codec of blocks");
}

// Values that a thread takes at a time: some 50 microseconds.
constexpr std::size_t kAtOnce = 1 << 16;

void for_parts(std::size_t count, std::size_t threads,
               const std::function<void(std::size_t, std::size_t)>& body) {
  parallel_for((count + kAtOnce - 1) / kAtOnce, threads, [&](std::size_t part) {
    const std::size_t first = part * kAtOnce;
    body(first, std::min(first + kAtOnce, count));
  });
}

// As the codecs of blocks do it, so that a run that diverges goes on being one.
float finite(float value) {
  constexpr float kMost = std::numeric_limits<float>::max();
  if (value > kMost || value != value) return kMost;
  return value < -kMost ? -kMost : value;
}

// Of running statistics `change` has the values themselves.
void add(const ParameterValues& change, const ModelSpec& model,
         std::span<float> values, std::size_t threads) {
  check(values.size() == change.size(), "a snapshot of this model");
  const std::size_t learned = trainable_count(model);
  for_parts(values.size(), threads, [&](std::size_t first, std::size_t end) {
    std::vector<float> room;
    const auto part = change.block(first, end - first, room);
    for (std::size_t i = first; i < end; ++i) {
      values[i] = i < learned ? values[i] + part[i - first] : part[i - first];
    }
  });
}

}  // namespace

std::uint64_t snapshot_delta_bytes(const ModelSpec& model, Codec codec) {
  return update_bytes(task_for(model, codec));
}

Bytes encode_snapshot_delta(const SnapshotCoding& coding,
                            std::span<const float> from,
                            std::span<const float> to, std::size_t threads) {
  check(from.size() == to.size(), "two snapshots of one model");
  TrainingTask task = task_for(coding.model, coding.codec);
  task.unit_seed = coding.version;
  const std::size_t learned = trainable_count(coding.model);
  std::vector<float> change(to.size());
  for_parts(learned, threads, [&](std::size_t first, std::size_t end) {
    for (std::size_t i = first; i < end; ++i) change[i] = to[i] - from[i];
  });
  for (std::size_t i = learned; i < to.size(); ++i) change[i] = finite(to[i]);
  return encode_by_blocks(task, change, threads);
}

void apply_snapshot_delta(const ModelSpec& model, ByteView delta,
                          std::span<float> values, const std::string& what,
                          std::size_t threads) {
  const TrainingTask task = task_for(model, codec_of(delta, what));
  add(decode_update(task, delta, what, threads), model, values, threads);
}

void apply_snapshot_delta(const ModelSpec& model, MappedFile delta,
                          std::span<float> values, const std::string& what) {
  const TrainingTask task = task_for(model, codec_of(delta.bytes(), what));
  add(map_update(task, std::move(delta), what), model, values, 1);
}

}  // namespace quorate

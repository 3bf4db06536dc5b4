// What to compute: the payload of a workunit. A result depends on these bytes
// and on the objects they name, on nothing else. docs/formats.md, "Task".
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/bytes.h"
#include "base/crypto.h"
#include "workunits/codec.h"
#include "workunits/models/model_spec.h"

namespace quorate {

struct RunId : FixedBytes<16> {};

enum class OptimizerKind { sgd, adamw };
std::string name_of(OptimizerKind kind);
// Throws usage, listing the known.
OptimizerKind optimizer_of(const std::string& name);

// The local optimiser; its state starts at zero in every unit. The values are
// used by bit pattern, so they are shipped as bit patterns.
struct OptimizerOptions {
  float learning_rate = 0.0F;
  float momentum = 0.0F;  // of sgd
  float weight_decay = 0.0F;
  OptimizerKind kind = OptimizerKind::sgd;
  float beta1 = 0.0F;  // of adamw, as the next two
  float beta2 = 0.0F;
  float epsilon = 0.0F;
  float clip_norm = 0.0F;  // most that the gradient's norm may be; 0: anything

  bool operator==(const OptimizerOptions&) const = default;
};

// Values that an optimiser keeps for each parameter.
std::size_t state_arrays(OptimizerKind kind);

// A contiguous range of one shard's shuffled order.
struct SampleRange {
  std::uint32_t epoch = 0;
  std::uint32_t shard_index = 0;    // within the data set
  std::uint32_t shard_samples = 0;  // in the whole shard
  std::uint32_t first = 0;          // position in the shuffled order
  std::uint32_t steps = 0;
  std::uint32_t batch = 0;
  // Samples that pass through the network at a time, their gradients being
  // added; 0: the whole batch.
  std::uint32_t micro_batch = 0;

  std::uint32_t pass() const { return micro_batch == 0 ? batch : micro_batch; }
  // Of one step, and the samples of the last one, which may be fewer.
  std::uint32_t passes() const { return (batch + pass() - 1) / pass(); }
  std::uint32_t last_pass() const { return batch - (passes() - 1) * pass(); }
  std::uint64_t samples() const {
    return static_cast<std::uint64_t>(steps) * batch;
  }
  bool operator==(const SampleRange&) const = default;
};

// Models that a run may train side by side (validator/update_rules).
inline constexpr std::uint32_t kMaxReplicas = 1024;

struct TrainingTask {
  RunId run;
  std::uint64_t unit_index = 0;  // within the run
  std::uint32_t arithmetic = 0;  // kArithmeticVersion
  ModelSpec model;
  std::uint64_t base_version = 0;
  std::optional<std::uint32_t> replica{};  // that it trains; none: the model
  Hash snapshot;  // object: its parameters at base_version
  Hash shard;     // object: images and labels
  SampleRange range;
  std::uint64_t order_seed = 0;  // the run's seed: order of the samples
  std::uint64_t unit_seed = 0;   // dropout, codecs
  OptimizerOptions optimizer;
  // 1 / targets of a batch: samples, or the tokens of a text.
  float inverse_batch = 0.0F;
  std::uint32_t digest_every = 0;  // steps between state digests
  Codec codec = Codec::fp32;       // of the update

  bool operator==(const TrainingTask&) const = default;
};

// The first 8 bytes, little-endian, of SHA-256("quorate unit seed v1", a zero
// byte, run id, unit index as u64 LE).
std::uint64_t unit_seed(const RunId& run, std::uint64_t unit_index);

// What losses of a batch are scaled by: 1 / its targets.
float inverse_batch(const ModelSpec& model, std::uint32_t batch);

// Steps between state digests of a unit of `steps` steps: ceil(steps / 8).
std::uint32_t digest_interval(std::uint32_t steps);
// How many digests a unit has that ran to its end.
std::uint32_t digest_count(const TrainingTask& task);

Bytes encode(const TrainingTask& task);
// Throws corrupt, naming the field, for anything that no project would seal:
// unknown format or codec, zero or absurd sizes, a range beyond its shard, a
// seed or reciprocal that does not follow from the rest. Throws unsupported
// for another version of the arithmetic.
TrainingTask decode_task(ByteView bytes);

}  // namespace quorate

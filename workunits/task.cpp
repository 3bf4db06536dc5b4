// A task is one line of JSON: keys sorted, no white space; binary32 values by
// their bits and seeds as hexadecimal texts, because decimal fractions do not
// survive every writer. What is read must be what would be written: one task,
// one text, one hash.
#include "workunits/task.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "base/arithmetic.h"
#include "base/error.h"
#include "base/json_fields.h"
#include "workunits/domain_hash.h"

namespace quorate {
namespace {

constexpr std::string_view kFormat = "quorate task v1";
constexpr JsonLimits kLimits{64 << 10, 26};
constexpr std::uint32_t kMaxBatch = 65536;
constexpr std::uint32_t kMaxSteps = 1U << 20;
constexpr std::uint32_t kMaxShardSamples = 1U << 24;
constexpr std::uint32_t kMaxDigests = 8;

[[noreturn]] void reject(const std::string& why) {
  throw Error(ErrorKind::corrupt, "task: " + why);
}

// A rate or a coefficient that a training can mean.
float get_coefficient(const JsonFields& fields, const char* name) {
  float value = fields.float_of_hex(name);
  if (!std::isfinite(value) || std::signbit(value)) {
    reject(fmt::format("field \"{}\": expected a number of at least 0", name));
  }
  return value;
}

// sgd is written as in the first version of the format, without its name.
void put_optimizer(const OptimizerOptions& options, nlohmann::json& json) {
  if (options.clip_norm != 0.0F) {
    json["clip_norm"] = hex_of_float(options.clip_norm);
  }
  if (options.kind == OptimizerKind::sgd) {
    json["momentum"] = hex_of_float(options.momentum);
    return;
  }
  json["optimizer"] = name_of(options.kind);
  json["beta1"] = hex_of_float(options.beta1);
  json["beta2"] = hex_of_float(options.beta2);
  json["epsilon"] = hex_of_float(options.epsilon);
}

OptimizerOptions get_optimizer(const JsonFields& fields) {
  OptimizerOptions options;
  options.learning_rate = get_coefficient(fields, "learning_rate");
  options.weight_decay = get_coefficient(fields, "weight_decay");
  if (fields.has("clip_norm")) {
    options.clip_norm = get_coefficient(fields, "clip_norm");
  }
  if (!fields.has("optimizer")) {
    options.momentum = get_coefficient(fields, "momentum");
    return options;
  }
  if (fields.text("optimizer", 32) != "adamw") {
    reject("field \"optimizer\": expected \"adamw\", or none for sgd");
  }
  options.kind = OptimizerKind::adamw;
  options.beta1 = get_coefficient(fields, "beta1");
  options.beta2 = get_coefficient(fields, "beta2");
  options.epsilon = get_coefficient(fields, "epsilon");
  if (options.beta1 >= 1.0F || options.beta2 >= 1.0F) {
    reject("fields \"beta1\", \"beta2\": expected numbers below 1");
  }
  return options;
}

SampleRange get_range(const JsonFields& fields) {
  SampleRange range;
  range.epoch = fields.integer32("epoch");
  range.shard_index = fields.integer32("shard_index");
  range.shard_samples = fields.integer32("shard_samples", 1, kMaxShardSamples);
  range.first = fields.integer32("first", 0, kMaxShardSamples);
  range.steps = fields.integer32("steps", 1, kMaxSteps);
  range.batch = fields.integer32("batch", 1, kMaxBatch);
  if (fields.has("micro_batch")) {
    range.micro_batch =
        fields.integer32("micro_batch", 1, std::max(range.batch, 2U) - 1);
  }
  if (range.first + range.samples() > range.shard_samples) {
    reject(fmt::format("samples {} to {} of a shard of {}", range.first,
                       range.first + range.samples(), range.shard_samples));
  }
  return range;
}

// Values that follow from others, or must suit them.
void check_derived(const TrainingTask& task) {
  std::string fault =
      fault_of_batch(layers_of(task.model), task.range.last_pass());
  if (!fault.empty()) reject("field \"batch\": " + fault);
  if (task.digest_every != digest_interval(task.range.steps)) {
    reject(fmt::format("field \"digest_every\": expected {}, found {}",
                       digest_interval(task.range.steps), task.digest_every));
  }
  if (task.inverse_batch != inverse_batch(task.model, task.range.batch)) {
    reject("field \"inverse_batch\": is not 1 / targets of a batch");
  }
  if (task.unit_seed != unit_seed(task.run, task.unit_index)) {
    reject("field \"unit_seed\": does not follow from run and unit index");
  }
}

std::uint32_t get_replica(const JsonFields& fields) {
  const std::uint32_t replica = fields.integer32("replica");
  if (replica < kMaxReplicas) return replica;
  reject(fmt::format("field \"replica\": expected less than {}, found {}",
                     kMaxReplicas, replica));
}

Codec get_codec(const JsonFields& fields) {
  const std::string name = fields.text("codec", 32);
  if (const auto codec = codec_called(name)) return *codec;
  reject(fmt::format("field \"codec\": unknown codec \"{}\"", name));
}

void check_versions(const JsonFields& fields) {
  if (fields.text("format", 64) != kFormat) {
    reject(fmt::format("field \"format\": expected \"{}\"", kFormat));
  }
  auto arithmetic = fields.integer32("arithmetic");
  if (arithmetic != kArithmeticVersion) {
    throw Error(ErrorKind::unsupported,
                fmt::format("task: needs arithmetic version {}, this program "
                            "computes version {}: update it",
                            arithmetic, kArithmeticVersion));
  }
}

}  // namespace

std::string name_of(OptimizerKind kind) {
  return kind == OptimizerKind::sgd ? "sgd" : "adamw";
}

OptimizerKind optimizer_of(const std::string& name) {
  for (OptimizerKind kind : {OptimizerKind::sgd, OptimizerKind::adamw}) {
    if (name == name_of(kind)) return kind;
  }
  throw Error(
      ErrorKind::usage,
      fmt::format("unknown optimizer \"{}\": expected sgd or adamw", name));
}

std::size_t state_arrays(OptimizerKind kind) {
  return kind == OptimizerKind::sgd ? 1 : 2;
}

float inverse_batch(const ModelSpec& model, std::uint32_t batch) {
  return 1.0F / static_cast<float>(std::uint64_t{batch} * targets_of(model));
}

std::uint64_t unit_seed(const RunId& run, std::uint64_t unit_index) {
  ByteWriter index;
  index.put(unit_index);
  Hash hash = domain_hash("quorate unit seed v1", {run.view(), index.take()});
  return ByteReader(hash.view(), "unit seed").get<std::uint64_t>();
}

std::uint32_t digest_interval(std::uint32_t steps) {
  return steps <= kMaxDigests ? 1 : (steps - 1) / kMaxDigests + 1;
}

std::uint32_t digest_count(const TrainingTask& task) {
  return (task.range.steps + task.digest_every - 1) / task.digest_every;
}

Bytes encode(const TrainingTask& task) {
  nlohmann::json json = {
      {"format", kFormat},
      {"run", task.run.hex()},
      {"unit_index", task.unit_index},
      {"arithmetic", task.arithmetic},
      {"model", nlohmann::json::parse(to_json(task.model))},
      {"base_version", task.base_version},
      {"snapshot", task.snapshot.hex()},
      {"shard", task.shard.hex()},
      {"epoch", task.range.epoch},
      {"shard_index", task.range.shard_index},
      {"shard_samples", task.range.shard_samples},
      {"first", task.range.first},
      {"steps", task.range.steps},
      {"batch", task.range.batch},
      {"order_seed", hex_of_seed(task.order_seed)},
      {"unit_seed", hex_of_seed(task.unit_seed)},
      {"learning_rate", hex_of_float(task.optimizer.learning_rate)},
      {"weight_decay", hex_of_float(task.optimizer.weight_decay)},
      {"inverse_batch", hex_of_float(task.inverse_batch)},
      {"digest_every", task.digest_every},
      {"codec", name_of(task.codec)},
  };
  put_optimizer(task.optimizer, json);
  if (task.range.micro_batch != 0) {
    json["micro_batch"] = task.range.micro_batch;
  }
  if (task.replica) json["replica"] = *task.replica;
  std::string text = dump_json(json);
  ByteView view = as_bytes(text);
  return {view.begin(), view.end()};
}

TrainingTask decode_task(ByteView bytes) {
  nlohmann::json json = parse_json(as_text(bytes), kLimits, "task");
  JsonFields fields(json, "task");
  check_versions(fields);
  TrainingTask task;
  task.run = fields.fixed_bytes<RunId>("run");
  task.unit_index = fields.integer("unit_index");
  task.arithmetic = fields.integer32("arithmetic");
  task.model = model_from_json(dump_json(fields.at("model")));
  task.base_version = fields.integer("base_version");
  if (json.contains("replica")) task.replica = get_replica(fields);
  task.snapshot = fields.fixed_bytes<Hash>("snapshot");
  task.shard = fields.fixed_bytes<Hash>("shard");
  task.range = get_range(fields);
  task.order_seed = fields.seed_of_hex("order_seed");
  task.unit_seed = fields.seed_of_hex("unit_seed");
  task.optimizer = get_optimizer(fields);
  task.inverse_batch = get_coefficient(fields, "inverse_batch");
  task.digest_every = fields.integer32("digest_every");
  task.codec = get_codec(fields);
  check_derived(task);
  if (encode(task) != Bytes(bytes.begin(), bytes.end())) {
    reject("is not written as we write tasks: unknown fields, or spaces");
  }
  return task;
}

}  // namespace quorate

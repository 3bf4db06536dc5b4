#include "server/datasets/manifest.h"

#include <algorithm>

#include "base/error.h"
#include "base/json_fields.h"
#include "workunits/objects/token_shard.h"

namespace quorate {
namespace {

constexpr const char* kFormat = "quorate dataset v1";
constexpr JsonLimits kLimits = {64 << 20, 4};

// What a shard is counted in, and how many of them a full one has.
struct Count {
  const char* name;
  std::uint32_t most;
};

Count count_of(const DatasetManifest& manifest) {
  return manifest.is_text() ? Count{"tokens", kShardTokens}
                            : Count{"samples", kShardSamples};
}

nlohmann::json to_json(const std::vector<ShardEntry>& shards,
                       const Count& count) {
  nlohmann::json list = nlohmann::json::array();
  for (const ShardEntry& shard : shards) {
    list.push_back({{"hash", shard.hash.hex()}, {count.name, shard.samples}});
  }
  return list;
}

// A list with at least one element.
const nlohmann::json& list_of(const JsonFields& fields, const char* name) {
  const nlohmann::json& value = fields.at(name);
  if (!value.is_array() || value.empty()) {
    throw Error(ErrorKind::corrupt, fields.label(name) + ": expected a list");
  }
  return value;
}

std::vector<ShardEntry> shards_of(const JsonFields& fields, const char* name,
                                  const Count& count) {
  std::vector<ShardEntry> shards;
  for (const nlohmann::json& entry : list_of(fields, name)) {
    JsonFields shard(entry, fields.label(name));
    shards.push_back({shard.fixed_bytes<Hash>("hash"),
                      shard.integer32(count.name, 1, count.most)});
  }
  return shards;
}

std::vector<std::uint64_t> counts_of(const JsonFields& fields,
                                     std::uint32_t classes) {
  const nlohmann::json& counts = list_of(fields, "class_counts");
  bool is_valid = counts.size() == classes;
  for (const nlohmann::json& count : counts) {
    is_valid = is_valid && count.is_number_unsigned();
  }
  if (!is_valid) {
    throw Error(ErrorKind::corrupt, fields.label("class_counts") +
                                        ": expected one number for each class");
  }
  return counts.get<std::vector<std::uint64_t>>();
}

// Bytes of a text without zeros, each once, ascending.
Bytes symbols_of(const JsonFields& fields) {
  std::string hex = fields.text("symbols", 2 * 255);
  Bytes symbols((hex.size() + 1) / 2);
  from_hex(hex, symbols, fields.label("symbols"));
  bool is_valid = !symbols.empty() && symbols[0] != 0;
  for (std::size_t i = 1; i < symbols.size(); ++i) {
    is_valid = is_valid && symbols[i - 1] < symbols[i];
  }
  if (!is_valid) {
    throw Error(
        ErrorKind::corrupt,
        fields.label("symbols") + ": expected bytes from 01 to ff, ascending");
  }
  return symbols;
}

void read_text_fields(const JsonFields& fields, DatasetManifest& manifest) {
  manifest.symbols = symbols_of(fields);
  manifest.classes = static_cast<std::uint32_t>(manifest.symbols.size());
}

void read_image_fields(const JsonFields& fields, DatasetManifest& manifest) {
  manifest.shape = {fields.integer32("height", 1, kMaxSide),
                    fields.integer32("width", 1, kMaxSide),
                    fields.integer32("channels", 1, kMaxChannels)};
  manifest.classes = fields.integer32("classes", 1, 256);
  manifest.seed = fields.seed_of_hex("seed");
}

}  // namespace

bool is_sample_shape(const SampleShape& shape) {
  return is_within_bounds(shape) && shape.height <= kMaxSide &&
         shape.width <= kMaxSide && shape.channels <= kMaxChannels;
}

std::uint64_t samples_of(const std::vector<ShardEntry>& shards) {
  std::uint64_t samples = 0;
  for (const ShardEntry& shard : shards) samples += shard.samples;
  return samples;
}

bool is_dataset_name(const std::string& name) {
  auto is_allowed = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' ||
           c == '_';
  };
  return !name.empty() && name.size() <= 64 && name.front() != '-' &&
         std::all_of(name.begin(), name.end(), is_allowed);
}

std::string to_json(const DatasetManifest& manifest) {
  Count count = count_of(manifest);
  nlohmann::json json = {
      {"format", kFormat},
      {"name", manifest.name},
      {"kind", manifest.kind},
      {"test_part", manifest.has_own_test ? "own" : "held out"},
      {"class_counts", manifest.class_counts},
      {"train", to_json(manifest.train, count)},
      {"test", to_json(manifest.test, count)},
  };
  if (manifest.is_text()) {
    json["symbols"] = to_hex(manifest.symbols);
  } else {
    json["height"] = manifest.shape.height;
    json["width"] = manifest.shape.width;
    json["channels"] = manifest.shape.channels;
    json["classes"] = manifest.classes;
    json["seed"] = hex_of_seed(manifest.seed);
  }
  return dump_json(json);
}

DatasetManifest manifest_from_json(const std::string& text,
                                   const std::string& what) {
  nlohmann::json json = parse_json(text, kLimits, what);
  JsonFields fields(json, what);
  if (fields.text("format", 64) != kFormat) {
    throw Error(ErrorKind::corrupt,
                fields.label("format") + ": expected \"" + kFormat + "\"");
  }
  DatasetManifest manifest;
  manifest.name = fields.text("name", 64);
  if (!is_dataset_name(manifest.name)) {
    throw Error(ErrorKind::corrupt, fields.label("name") + ": not a name");
  }
  manifest.kind = fields.text("kind", 64);
  manifest.is_text() ? read_text_fields(fields, manifest)
                     : read_image_fields(fields, manifest);
  manifest.has_own_test = fields.text("test_part", 64) == "own";
  manifest.class_counts = counts_of(fields, manifest.classes);
  Count count = count_of(manifest);
  manifest.train = shards_of(fields, "train", count);
  manifest.test = shards_of(fields, "test", count);
  return manifest;
}

}  // namespace quorate

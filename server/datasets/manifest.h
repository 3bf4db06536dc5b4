// What a project knows of a data set: datasets/NAME.json in its folder.
// docs/formats.md, "Data set".
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/crypto.h"
#include "workunits/shard.h"

namespace quorate {

struct ShardEntry {
  Hash hash;
  std::uint32_t samples = 0;

  bool operator==(const ShardEntry&) const = default;
};

struct DatasetManifest {
  std::string name;
  std::string kind;  // of its source: "glyphs", "idx", ...
  SampleShape shape;
  std::uint32_t classes = 0;
  std::uint64_t seed = 0;     // of the shuffle
  bool has_own_test = false;  // else the test part is held out by the seed
  std::vector<ShardEntry> train;
  std::vector<ShardEntry> test;
  std::vector<std::uint64_t> class_counts;  // training samples of each class

  bool operator==(const DatasetManifest&) const = default;
};

// Most of what a sample may measure; in all, kMaxSampleValues.
inline constexpr std::uint32_t kMaxSide = 1 << 14;  // height, width
inline constexpr std::uint32_t kMaxChannels = 16;
bool is_sample_shape(const SampleShape& shape);

std::uint64_t samples_of(const std::vector<ShardEntry>& shards);

// Lower-case letters, digits, '-' and '_', 1 to 64 of them: a file's name and
// a word of the command line.
bool is_dataset_name(const std::string& name);

std::string to_json(const DatasetManifest& manifest);
// Throws corrupt, naming `what` and the field, for anything build_dataset
// would not write.
DatasetManifest manifest_from_json(const std::string& text,
                                   const std::string& what);

}  // namespace quorate

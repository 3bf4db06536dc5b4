// What a project knows of a data set: datasets/NAME.json in its folder.
// docs/formats.md, "Data set".
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "base/crypto.h"
#include "workunits/objects/shard.h"

namespace quorate {

struct ShardEntry {
  Hash hash;
  std::uint32_t samples = 0;  // of a text its tokens

  bool operator==(const ShardEntry&) const = default;
};

// The kind of a set that is a text; every other is one of images.
inline constexpr std::string_view kTextKind = "text";

// A text has one class for each of its symbols, the bytes that occur in it: a
// token is the place of its byte among them.
struct DatasetManifest {
  std::string name;
  std::string kind;     // of its source: "glyphs", "idx", ..., or kTextKind
  SampleShape shape{};  // of images
  std::uint32_t classes = 0;
  Bytes symbols{};            // of a text, ascending; as many as classes
  std::uint64_t seed = 0;     // of the shuffle; a text keeps its order
  bool has_own_test = false;  // else held out: by the seed, or a text's end
  std::vector<ShardEntry> train;
  std::vector<ShardEntry> test;
  // Training samples, or tokens, of each class.
  std::vector<std::uint64_t> class_counts;

  bool is_text() const { return kind == kTextKind; }
  bool operator==(const DatasetManifest&) const = default;
};

// Most of what a sample may measure; in all, kMaxSampleValues.
inline constexpr std::uint32_t kMaxSide = 1 << 14;  // height, width
inline constexpr std::uint32_t kMaxChannels = 16;
bool is_sample_shape(const SampleShape& shape);

// Samples, or tokens.
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

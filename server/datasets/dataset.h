// From samples to the shards of a project: what `quorate dataset add` does.
//
// The room server/datasets makes and describes data sets; its room readers/
// knows the file formats. It holds one set in memory while it is added, runs on
// the command's thread, and may include workunits/ and base/. A server only
// reads the manifests.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "base/bytes.h"
#include "server/datasets/manifest.h"
#include "workunits/objects/object_store.h"
#include "workunits/objects/shard.h"

namespace quorate {

// Most bytes of samples, or of text, that a data set may have: it is held in
// memory until its shards are written.
inline constexpr std::uint64_t kMaxDatasetBytes = 1'000'000'000;

// Throws denied, naming the data set (`what`), beyond kMaxDatasetBytes.
void expect_dataset_fits(std::uint64_t bytes, const std::string& what);

// One part of a set: images one after another, [n, h, w, c] U8, and one label a
// sample; or a text.
struct SampleSet {
  Bytes images;
  Bytes labels;
  Bytes text{};

  // Of a text its bytes.
  std::size_t samples() const { return labels.size() + text.size(); }
};

// A whole data set as its files give it.
struct DatasetSource {
  std::string kind;  // "glyphs", "idx", "cifar", ..., or kTextKind
  // Of images: their shape, and what labels are below.
  SampleShape shape;
  std::uint32_t classes = 0;
  SampleSet train;
  SampleSet test;     // empty: the set has no test part of its own
  std::string guess;  // what was taken for granted in reading it, for people

  bool is_text() const { return kind == kTextKind; }
};

// All of its samples.
std::uint64_t bytes_of(const DatasetSource& source);

using DatasetProgress =
    std::function<void(std::uint64_t samples_done, std::uint64_t samples)>;

struct DatasetOptions {
  std::string name;
  std::uint64_t seed = 0;  // of the shuffle
  // Of a set without a test part of its own, this share of the training
  // samples, or the end of the text, becomes it: 1 to 90, kHoldOutPercent if
  // not given.
  std::optional<std::uint32_t> hold_out_percent{};
};
inline constexpr std::uint32_t kHoldOutPercent = 10;

// Writes the shards of `source` into `objects` and returns what the project
// remembers of them. Training samples are shuffled once; a text stays in its
// order (server/datasets/text_shards). Throws usage if the name cannot be a
// file's, there are too few samples, or some shall be held out of a set that
// has a test part; denied if the set is too large, corrupt if images, labels
// and shape disagree.
DatasetManifest build_dataset(const DatasetSource& source,
                              const DatasetOptions& options,
                              ObjectStore& objects,
                              const DatasetProgress& progress = {});

}  // namespace quorate

#include "server/datasets/dataset.h"

#include <algorithm>
#include <vector>

#include <fmt/format.h>

#include "base/error.h"
#include "base/random.h"
#include "server/datasets/text_shards.h"

namespace quorate {
namespace {

void expect_consistent(const SampleSet& set, const DatasetSource& source,
                       const std::string& what) {
  if (set.images.size() != set.samples() * source.shape.size()) {
    throw Error(
        ErrorKind::corrupt,
        fmt::format("{}: {} labels of {} x {} x {} images need {} bytes of "
                    "images, found {}",
                    what, set.samples(), source.shape.height,
                    source.shape.width, source.shape.channels,
                    set.samples() * source.shape.size(), set.images.size()));
  }
  for (std::size_t i = 0; i < set.samples(); ++i) {
    if (set.labels[i] >= source.classes) {
      throw Error(ErrorKind::corrupt,
                  fmt::format("{}: sample {}: label {}, expected one below {}",
                              what, i, set.labels[i], source.classes));
    }
  }
}

void expect_images(const DatasetSource& source, const std::string& what) {
  expect_consistent(source.train, source, what + ", training part");
  expect_consistent(source.test, source, what + ", test part");
  if (source.train.samples() < 2 || source.shape.size() == 0) {
    throw Error(ErrorKind::usage,
                fmt::format("{}: {} training samples of {} values: there is "
                            "nothing to train on",
                            what, source.train.samples(), source.shape.size()));
  }
}

void expect_hold_out(const DatasetSource& source, std::uint32_t percent,
                     const std::string& what) {
  if (percent < 1 || percent > 90) {
    throw Error(
        ErrorKind::usage,
        fmt::format("{}: hold out {} %: expected 1 to 90", what, percent));
  }
  if (source.test.samples() > 0) {
    throw Error(
        ErrorKind::usage,
        fmt::format(
            "{}: hold out {} %: the data already have a test part, of {} {}",
            what, percent, source.test.samples(),
            source.is_text() ? "tokens" : "samples"));
  }
}

void expect_buildable(const DatasetSource& source,
                      const DatasetOptions& options) {
  const std::string& name = options.name;
  if (!is_dataset_name(name)) {
    throw Error(ErrorKind::usage,
                fmt::format("data set \"{}\": a name has 1 to 64 lower-case "
                            "letters, digits, '-' or '_'",
                            name.substr(0, 80)));
  }
  std::string what = fmt::format("data set \"{}\"", name);
  expect_dataset_fits(bytes_of(source), what);
  if (!source.is_text()) expect_images(source, what);
  if (options.hold_out_percent) {
    expect_hold_out(source, *options.hold_out_percent, what);
  }
}

// Writes samples in a given order as shards.
class ShardWriter {
 public:
  ShardWriter(SampleShape shape, std::uint64_t all_samples,
              ObjectStore& objects, const DatasetProgress& progress)
      : shape_(shape),
        all_samples_(all_samples),
        objects_(objects),
        progress_(progress) {}

  std::vector<ShardEntry> write(const SampleSet& set,
                                std::span<const std::uint32_t> order) {
    std::vector<ShardEntry> shards;
    while (!order.empty()) {
      std::size_t count = std::min<std::size_t>(order.size(), kShardSamples);
      shards.push_back(write_one(set, order.first(count)));
      order = order.subspan(count);
    }
    return shards;
  }

 private:
  ShardEntry write_one(const SampleSet& set,
                       std::span<const std::uint32_t> order) {
    Bytes images;
    Bytes labels;
    images.reserve(order.size() * shape_.size());
    labels.reserve(order.size());
    ByteView all(set.images);
    for (std::uint32_t sample : order) {
      ByteView image =
          all.subspan(std::size_t{sample} * shape_.size(), shape_.size());
      images.insert(images.end(), image.begin(), image.end());
      labels.push_back(set.labels[sample]);
    }
    auto samples = static_cast<std::uint32_t>(order.size());
    Bytes bytes = write_shard({shape_, samples, images, labels});
    ShardEntry entry{objects_.put(bytes), samples};
    done_ += samples;
    if (progress_) progress_(done_, all_samples_);
    return entry;
  }

  SampleShape shape_;
  std::uint64_t all_samples_;
  std::uint64_t done_ = 0;
  ObjectStore& objects_;
  const DatasetProgress& progress_;
};

// The samples of [0, n) in the order that `seed` gives them.
std::vector<std::uint32_t> shuffled_order(std::size_t n, std::uint64_t seed) {
  auto count = static_cast<std::uint32_t>(n);
  Permutation sample_at(count, seed, stream_of(RandomUse::dataset_shuffle), 0);
  std::vector<std::uint32_t> order(count);
  for (std::uint32_t i = 0; i < count; ++i) order[i] = sample_at(i);
  return order;
}

// As write_text_shards, of a set of images.
void write_image_shards(const DatasetSource& source, std::uint32_t hold_out,
                        ObjectStore& objects, const DatasetProgress& progress,
                        DatasetManifest& manifest) {
  std::size_t samples = source.train.samples();
  std::vector<std::uint32_t> order = shuffled_order(samples, manifest.seed);
  std::span<const std::uint32_t> train(order);
  ShardWriter writer(source.shape, samples + source.test.samples(), objects,
                     progress);
  if (manifest.has_own_test) {
    std::vector<std::uint32_t> own =
        shuffled_order(source.test.samples(), manifest.seed);
    manifest.test = writer.write(source.test, own);
  } else {
    std::size_t held_out = std::max<std::size_t>(samples * hold_out / 100, 1);
    manifest.test = writer.write(source.train, train.last(held_out));
    train = train.first(samples - held_out);
  }
  manifest.class_counts.assign(source.classes, 0);
  for (std::uint32_t sample : train) {
    ++manifest.class_counts[source.train.labels[sample]];
  }
  manifest.train = writer.write(source.train, train);
}

}  // namespace

std::uint64_t bytes_of(const DatasetSource& source) {
  std::uint64_t bytes = 0;
  for (const SampleSet* part : {&source.train, &source.test}) {
    bytes += part->images.size() + part->text.size();
  }
  return bytes;
}

void expect_dataset_fits(std::uint64_t bytes, const std::string& what) {
  if (bytes <= kMaxDatasetBytes) return;
  throw Error(
      ErrorKind::denied,
      fmt::format("{}: {} bytes of samples, but at most {} fit, because a data "
                  "set is held in memory: use a part of it",
                  what, bytes, kMaxDatasetBytes));
}

DatasetManifest build_dataset(const DatasetSource& source,
                              const DatasetOptions& options,
                              ObjectStore& objects,
                              const DatasetProgress& progress) {
  expect_buildable(source, options);
  DatasetManifest manifest;
  manifest.name = options.name;
  manifest.kind = source.kind;
  manifest.has_own_test = source.test.samples() > 0;
  std::uint32_t hold_out = options.hold_out_percent.value_or(kHoldOutPercent);
  if (source.is_text()) {
    write_text_shards(source, hold_out, objects, progress, manifest);
    return manifest;
  }
  manifest.shape = source.shape;
  manifest.classes = source.classes;
  manifest.seed = options.seed;
  write_image_shards(source, hold_out, objects, progress, manifest);
  return manifest;
}

}  // namespace quorate

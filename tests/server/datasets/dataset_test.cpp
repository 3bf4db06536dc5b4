#include "server/datasets/dataset.h"

#include <algorithm>
#include <set>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include "tests/server/datasets/files.h"

namespace quorate {
namespace {

// n samples of 3 x 1 values that spell their own number; label: number mod 5.
SampleSet numbered(std::uint32_t n, std::uint32_t first = 0) {
  SampleSet set;
  for (std::uint32_t i = first; i < first + n; ++i) {
    for (int shift : {16, 8, 0}) {
      set.images.push_back(static_cast<std::uint8_t>(i >> shift));
    }
    set.labels.push_back(static_cast<std::uint8_t>(i % 5));
  }
  return set;
}

DatasetSource source_of(std::uint32_t train, std::uint32_t test) {
  DatasetSource source;
  source.kind = "numbers";
  source.shape = {3, 1, 1};
  source.classes = 5;
  source.train = numbered(train);
  source.test = numbered(test, 1'000'000);
  return source;
}

class Project {
  TemporaryFolder folder_;

 public:
  ObjectStore objects{folder_ / "objects", folder_ / "tmp"};

  // The numbers of the samples in `shards`, in order; labels are checked.
  std::vector<std::uint32_t> numbers(const std::vector<ShardEntry>& shards) {
    std::vector<std::uint32_t> numbers;
    for (const ShardEntry& entry : shards) {
      Bytes bytes = objects.read(entry.hash);
      ShardView shard = read_shard(bytes, 5, "shard");
      CHECK(shard.samples == entry.samples);
      CHECK(shard.shape == SampleShape{3, 1, 1});
      for (std::size_t i = 0; i < shard.samples; ++i) {
        ByteView image = shard.images.subspan(3 * i, 3);
        std::uint32_t number = std::uint32_t{image[0]} << 16 |
                               std::uint32_t{image[1]} << 8 | image[2];
        CHECK(shard.labels[i] == number % 5);
        numbers.push_back(number);
      }
    }
    return numbers;
  }
};

TEST_CASE("every sample lands in exactly one place, shuffled") {
  Project project;
  DatasetSource source = source_of(2 * kShardSamples + 100, 50);
  std::vector<std::pair<std::uint64_t, std::uint64_t>> progress;
  DatasetManifest manifest =
      build_dataset(source, {"n", 0}, project.objects,
                    [&](std::uint64_t done, std::uint64_t all) {
                      progress.emplace_back(done, all);
                    });

  REQUIRE(manifest.train.size() == 3);
  CHECK(manifest.train[0].samples == kShardSamples);
  CHECK(manifest.train[1].samples == kShardSamples);
  CHECK(manifest.train[2].samples == 100);
  CHECK(manifest.has_own_test);
  std::vector<std::uint32_t> train = project.numbers(manifest.train);
  CHECK(!std::is_sorted(train.begin(), train.end()));
  std::sort(train.begin(), train.end());
  for (std::uint32_t i = 0; i < train.size(); ++i) CHECK(train[i] == i);

  std::vector<std::uint32_t> test = project.numbers(manifest.test);
  std::sort(test.begin(), test.end());
  REQUIRE(test.size() == 50);
  CHECK(test.front() == 1'000'000);
  CHECK(test.back() == 1'000'049);

  CHECK(progress.size() == 4);
  CHECK(progress.back() ==
        std::pair<std::uint64_t, std::uint64_t>{2 * kShardSamples + 150,
                                                2 * kShardSamples + 150});
}

TEST_CASE("without a test part a tenth is held out and never trained on") {
  Project project;
  DatasetManifest manifest =
      build_dataset(source_of(1005, 0), {"n", 1}, project.objects);
  CHECK(!manifest.has_own_test);
  std::vector<std::uint32_t> train = project.numbers(manifest.train);
  std::vector<std::uint32_t> test = project.numbers(manifest.test);
  CHECK(train.size() == 905);
  CHECK(test.size() == 100);
  std::set<std::uint32_t> all(train.begin(), train.end());
  all.insert(test.begin(), test.end());
  CHECK(all.size() == 1005);
}

TEST_CASE("the share that is held out can be said") {
  Project project;
  DatasetManifest manifest =
      build_dataset(source_of(1005, 0), {"n", 1, 25}, project.objects);
  CHECK(samples_of(manifest.test) == 251);
  CHECK(samples_of(manifest.train) == 754);
  manifest = build_dataset(source_of(2, 0), {"n", 1, 90}, project.objects);
  CHECK(samples_of(manifest.test) == 1);

  auto refuse = [&](const DatasetSource& source, std::uint32_t percent) {
    return error_of(ErrorKind::usage, [&] {
      (void)build_dataset(source, {"n", 1, percent}, project.objects);
    });
  };
  for (std::uint32_t percent : {0U, 91U}) {
    CHECK(contains(refuse(source_of(100, 0), percent), "expected 1 to 90"));
  }
  CHECK(contains(refuse(source_of(100, 7), 10),
                 "the data already have a test part, of 7 samples"));
}

TEST_CASE("class counts are those of the training shards") {
  Project project;
  DatasetManifest manifest =
      build_dataset(source_of(203, 0), {"n", 2}, project.objects);
  std::vector<std::uint64_t> counted(5);
  for (std::uint32_t number : project.numbers(manifest.train)) {
    ++counted[number % 5];
  }
  CHECK(manifest.class_counts == counted);
}

TEST_CASE("the seed alone decides the shards") {
  Project project;
  DatasetSource source = source_of(500, 0);
  DatasetManifest first = build_dataset(source, {"n", 9}, project.objects);
  Project other;
  CHECK(build_dataset(source, {"n", 9}, other.objects) == first);
  CHECK(build_dataset(source, {"n", 10}, other.objects).train != first.train);
}

TEST_CASE("sources that contradict themselves are refused") {
  Project project;
  auto refuse = [&](ErrorKind kind, const DatasetSource& source,
                    const std::string& name) {
    return error_of(
        kind, [&] { (void)build_dataset(source, {name}, project.objects); });
  };
  DatasetSource source = source_of(20, 0);
  CHECK(contains(refuse(ErrorKind::usage, source, "../x"), "../x"));

  source.train.images.pop_back();
  CHECK(contains(refuse(ErrorKind::corrupt, source, "n"), "found 59"));

  source = source_of(20, 10);
  source.test.labels[3] = 5;
  CHECK(contains(refuse(ErrorKind::corrupt, source, "n"),
                 "test part: sample 3: label 5"));

  (void)refuse(ErrorKind::usage, source_of(1, 0), "n");
  (void)refuse(ErrorKind::usage, DatasetSource{}, "n");
}

TEST_CASE("more than fits in memory is refused by name") {
  expect_dataset_fits(kMaxDatasetBytes, "n");
  std::string text = error_of(ErrorKind::denied, [] {
    expect_dataset_fits(kMaxDatasetBytes + 1, "data set \"n\"");
  });
  CHECK(contains(text, "data set \"n\": 1000000001 bytes"));
}

}  // namespace
}  // namespace quorate

#include "server/datasets/readers/cifar.h"

#include <array>

#include <doctest/doctest.h>

#include "server/datasets/readers/readers.h"
#include "tests/server/datasets/files.h"
#include "tests/support/data.h"

namespace quorate {
namespace {

constexpr std::size_t kRecord = 3073;

// A record whose planes are red, green and blue all over.
Bytes record(std::uint8_t label, std::uint8_t red, std::uint8_t green,
             std::uint8_t blue) {
  Bytes bytes = {label};
  for (std::uint8_t value : {red, green, blue}) {
    bytes.insert(bytes.end(), 1024, value);
  }
  return bytes;
}

DatasetSource read(const fs::path& train) {
  return read_cifar_set({{train}, {}}, {}, {});
}

TEST_CASE("golden: planes become pixels, batches are joined") {
  DatasetSource source = open_source(golden_spec("cifar"));
  CHECK(source.kind == "cifar");
  CHECK(source.shape == SampleShape{32, 32, 3});
  CHECK(source.classes == 10);
  CHECK(source.train.labels == golden_labels(0, 3));
  CHECK(source.test.labels == golden_labels(3, 1));
  CHECK(source.train.images == golden_images(0, 3, source.shape));
  CHECK(source.test.images == golden_images(3, 1, source.shape));
}

TEST_CASE("golden: the shards of a set never change") {
  TemporaryFolder folder;
  ObjectStore objects(folder / "objects", folder / "tmp");
  DatasetManifest manifest =
      build_dataset(open_source(golden_spec("cifar")), {"c"}, objects);
  REQUIRE(manifest.train.size() == 1);
  REQUIRE(manifest.test.size() == 1);
  CHECK(manifest.train[0].hash.hex() ==
        "0afbdd3d9119f73ecc9130a0160ae5c5466d075afa6397eaf27822c0393e55b1");
  CHECK(manifest.test[0].hash.hex() ==
        "0e38f69f29fbfc899edaae1d15adb2862bfda6110166750549099f146c2ee9c6");
}

TEST_CASE("a file cut at any byte is refused, or ends between records") {
  TemporaryFolder folder;
  Bytes bytes = record(1, 2, 3, 4);
  Bytes second = record(5, 6, 7, 8);
  bytes.insert(bytes.end(), second.begin(), second.end());
  for (std::size_t size = 0; size < bytes.size(); size += 7) {
    fs::path path = write_file(folder / "b", ByteView(bytes).first(size));
    if (size == kRecord) {
      CHECK(read(path).train.samples() == 1);
      continue;
    }
    std::string text = error_of(ErrorKind::corrupt, [&] { (void)read(path); });
    CHECK(contains(text, path.string()));
    CHECK(contains(text, size == 0        ? "the file is empty"
                         : size < kRecord ? "record 0: expected 3073"
                                          : "record 1: expected 3073"));
  }
}

TEST_CASE("a gzip file cut or changed at any byte is refused or unchanged") {
  TemporaryFolder folder;
  Bytes bytes = record(1, 2, 3, 4);
  Bytes packed = read_file(write_gzip(folder / "whole", bytes));
  Bytes images = read(folder / "whole").train.images;
  for (std::size_t size = 0; size < packed.size(); ++size) {
    fs::path path = write_file(folder / "cut", ByteView(packed).first(size));
    (void)error_of(ErrorKind::corrupt, [&] { (void)read(path); });
  }
  for (std::size_t at = 0; at < packed.size(); ++at) {
    Bytes changed = packed;
    changed[at] ^= 0x55;
    fs::path path = write_file(folder / "changed", changed);
    try {  // bytes of the gzip header (time, system) carry nothing
      DatasetSource source = read(path);
      CHECK(source.train.images == images);
    } catch (const Error& error) {
      CHECK(name_of(error.kind()) == name_of(ErrorKind::corrupt));
    }
  }
}

TEST_CASE("a label that CIFAR-10 does not have is named") {
  TemporaryFolder folder;
  Bytes bytes = record(9, 0, 0, 0);
  Bytes second = record(10, 0, 0, 0);
  bytes.insert(bytes.end(), second.begin(), second.end());
  fs::path path = write_file(folder / "b", bytes);
  CHECK(contains(error_of(ErrorKind::corrupt, [&] { (void)read(path); }),
                 "record 1: label 10, expected one below 10"));
}

TEST_CASE("CIFAR-10 is read as its publisher wrote it") {
  std::optional<fs::path> folder = test::data_path("cifar10-subset");
  if (!folder) {
    MESSAGE("skipped: no cifar10-subset in QUORATE_DATA");
    return;
  }
  DatasetSource source = open_source({{folder->string()}});
  CHECK(source.train.samples() == 5000);
  CHECK(source.test.samples() == 1000);
  std::array<int, 10> counts{};
  for (std::uint8_t label : source.train.labels) ++counts[label];
  for (int count : counts) CHECK(count == 500);
  // Known means of the whole set; a subset of 5000 comes close.
  const double means[] = {0.49140, 0.48216, 0.44653};
  for (std::size_t c = 0; c < 3; ++c) {
    double sum = 0;
    for (std::size_t i = c; i < source.train.images.size(); i += 3) {
      sum += source.train.images[i];
    }
    CHECK(sum / 255 / (5000 * 1024) == doctest::Approx(means[c]).epsilon(0.02));
  }
}

}  // namespace
}  // namespace quorate

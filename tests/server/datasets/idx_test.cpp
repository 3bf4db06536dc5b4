#include "server/datasets/readers/idx.h"

#include <doctest/doctest.h>

#include "base/crypto.h"
#include "tests/server/datasets/files.h"
#include "tests/support/data.h"

namespace quorate {
namespace {

constexpr std::uint64_t kPlenty = 1 << 20;

TEST_CASE("images and labels are read from plain and gzip files") {
  TemporaryFolder folder;
  Bytes images = idx_images(3, 2, 5);
  Bytes labels = idx_labels({7, 0, 9});

  for (bool is_gzip : {false, true}) {
    auto write = is_gzip ? write_gzip : write_file;
    IdxImages read = read_idx_images(write(folder / "i", images), kPlenty);
    CHECK(read.count == 3);
    CHECK(read.height == 2);
    CHECK(read.width == 5);
    CHECK(read.pixels == Bytes(images.begin() + 16, images.end()));
    CHECK(read_idx_labels(write(folder / "l", labels), kPlenty) ==
          Bytes{7, 0, 9});
  }
}

TEST_CASE("a file cut at any byte is refused") {
  TemporaryFolder folder;
  Bytes images = idx_images(2, 2, 2);
  for (std::size_t size = 0; size < images.size(); ++size) {
    fs::path path = write_file(folder / "i", ByteView(images).first(size));
    std::string text = error_of(ErrorKind::corrupt,
                                [&] { (void)read_idx_images(path, kPlenty); });
    CHECK(contains(text, path.string()));
  }
}

TEST_CASE("a gzip file cut or changed at any byte is refused or unchanged") {
  TemporaryFolder folder;
  Bytes images = idx_images(40, 3, 3);
  Bytes packed = read_file(write_gzip(folder / "whole", images));
  Bytes pixels(images.begin() + 16, images.end());

  for (std::size_t size = 0; size < packed.size(); ++size) {
    fs::path path = write_file(folder / "cut", ByteView(packed).first(size));
    (void)error_of(ErrorKind::corrupt,
                   [&] { (void)read_idx_images(path, kPlenty); });
  }
  for (std::size_t at = 0; at < packed.size(); ++at) {
    Bytes changed = packed;
    changed[at] ^= 0x55;
    fs::path path = write_file(folder / "changed", changed);
    try {  // bytes of the gzip header (time, system) carry nothing
      IdxImages read = read_idx_images(path, kPlenty);
      CHECK(read.pixels == pixels);
    } catch (const Error& error) {
      CHECK(name_of(error.kind()) == name_of(ErrorKind::corrupt));
    }
  }
}

TEST_CASE("bytes after the declared end are refused") {
  TemporaryFolder folder;
  Bytes images = idx_images(2, 2, 2);
  images.push_back(1);
  for (auto write : {write_file, write_gzip}) {
    fs::path path = write(folder / "i", images);
    std::string text = error_of(ErrorKind::corrupt,
                                [&] { (void)read_idx_images(path, kPlenty); });
    CHECK(contains(text, "expected the end after 8 bytes of pixels"));
  }
}

TEST_CASE("what a header declares is bounded before anything is read") {
  TemporaryFolder folder;
  Bytes huge;
  for (std::uint32_t value : {2051U, 0xffffffffU, 16384U, 16384U}) {
    put_big_endian(huge, value);
  }
  fs::path path = write_file(folder / "i", huge);
  std::string text = error_of(ErrorKind::corrupt,
                              [&] { (void)read_idx_images(path, kPlenty); });
  CHECK(contains(text, "allowed are 1048576"));

  Bytes labels;
  put_big_endian(labels, 2049);
  put_big_endian(labels, 0x7fffffff);
  path = write_file(folder / "l", labels);
  (void)error_of(ErrorKind::corrupt,
                 [&] { (void)read_idx_labels(path, kPlenty); });
}

TEST_CASE("a bomb is read no further than its header declares") {
  TemporaryFolder folder;
  Bytes bomb = idx_images(1, 1, 1);
  bomb.resize(64 << 20);
  fs::path path = write_gzip(folder / "i", bomb);
  std::string text = error_of(ErrorKind::corrupt,
                              [&] { (void)read_idx_images(path, kPlenty); });
  CHECK(contains(text, "byte 17: expected the end"));
}

TEST_CASE("the wrong kind of file is named") {
  TemporaryFolder folder;
  fs::path labels = write_file(folder / "l", idx_labels({1}));
  std::string text = error_of(ErrorKind::corrupt,
                              [&] { (void)read_idx_images(labels, kPlenty); });
  CHECK(contains(text,
                 "expected the magic number 2051 of IDX images, found "
                 "2049 (labels)"));
}

TEST_CASE("an image side of zero or beyond the limit is refused") {
  TemporaryFolder folder;
  for (std::uint32_t side : {0U, 16385U}) {
    fs::path path = write_file(folder / "i", idx_images(0, side, 3));
    (void)error_of(ErrorKind::corrupt,
                   [&] { (void)read_idx_images(path, kPlenty); });
  }
}

TEST_CASE("a missing file and a folder are io errors") {
  TemporaryFolder folder;
  (void)error_of(ErrorKind::io,
                 [&] { (void)read_idx_labels(folder / "no", kPlenty); });
  (void)error_of(ErrorKind::io,
                 [&] { (void)read_idx_labels(folder.path(), kPlenty); });
}

TEST_CASE("Fashion-MNIST is read as its publishers wrote it") {
  std::optional<fs::path> folder = test::data_path("fashion-mnist");
  if (!folder) {
    MESSAGE("skipped: no fashion-mnist in QUORATE_DATA");
    return;
  }
  IdxImages images =
      read_idx_images(*folder / "train-images-idx3-ubyte.gz", 100'000'000);
  Bytes labels =
      read_idx_labels(*folder / "train-labels-idx1-ubyte.gz", kPlenty);
  CHECK(images.count == 60000);
  CHECK(images.height == 28);
  CHECK(images.width == 28);
  // The first samples: an ankle boot, two T-shirts, a dress.
  CHECK(Bytes(labels.begin(), labels.begin() + 4) == Bytes{9, 0, 0, 3});
}

}  // namespace
}  // namespace quorate

#include "server/datasets/readers/readers.h"

#include <fstream>

#include <doctest/doctest.h>

#include "tests/server/datasets/files.h"
#include "tests/support/data.h"

namespace quorate {
namespace {

SourceSpec from(const fs::path& path) {
  return {{path.string()}};
}

TEST_CASE("glyphs is built in") {
  SourceSpec spec{{"glyphs"}, 30, 10, 1};
  DatasetSource source = open_source(spec);
  CHECK(source.kind == "glyphs");
  CHECK(source.train.samples() == 30);
  CHECK(source.test.samples() == 10);
}

TEST_CASE("a folder's files are found under every usual name") {
  struct Names {
    const char* images;
    const char* labels;
    const char* test_images;
    const char* test_labels;
  };
  const Names cases[] = {
      {"train-images-idx3-ubyte", "train-labels-idx1-ubyte",
       "t10k-images-idx3-ubyte", "t10k-labels-idx1-ubyte"},
      {"train-images.idx3-ubyte", "train-labels.idx1-ubyte",
       "t10k-images.idx3-ubyte", "t10k-labels.idx1-ubyte"},
      {"train-images-idx3-ubyte.gz", "train-labels-idx1-ubyte.gz",
       "t10k-images-idx3-ubyte.gz", "t10k-labels-idx1-ubyte.gz"},
      {"digits-images-idx3-ubyte", "digits-labels-idx1-ubyte",
       "digits-test-images-idx3-ubyte", "digits-test-labels-idx1-ubyte"},
  };
  for (const Names& names : cases) {
    CAPTURE(names.images);
    TemporaryFolder folder;
    auto write = contains(names.images, ".gz") ? write_gzip : write_file;
    write(folder / names.images, idx_images(3, 2, 2));
    write(folder / names.labels, idx_labels({0, 1, 3}));
    write(folder / names.test_images, idx_images(1, 2, 2, 50));
    write(folder / names.test_labels, idx_labels({2}));
    write(folder / "README.md", as_bytes("not data"));

    DatasetSource source = open_source(from(folder.path()));
    CHECK(source.kind == "idx");
    CHECK(source.shape == SampleShape{2, 2, 1});
    CHECK(source.classes == 4);
    CHECK(source.train.labels == Bytes{0, 1, 3});
    CHECK(source.test.labels == Bytes{2});
    CHECK(source.test.images == Bytes{50, 51, 52, 53});
  }
}

TEST_CASE("the test part may be missing, and files may be named") {
  TemporaryFolder folder;
  fs::path images =
      write_file(folder / "mine-images-idx3-ubyte", idx_images(3, 2, 2));
  fs::path labels =
      write_file(folder / "mine-labels-idx1-ubyte", idx_labels({0, 1, 2}));
  DatasetSource source = open_source({{labels.string(), images.string()}});
  CHECK(source.train.samples() == 3);
  CHECK(source.test.samples() == 0);
}

TEST_CASE("what is missing is said, with what was looked for and found") {
  TemporaryFolder folder;
  auto refusal = [&](const SourceSpec& spec) {
    return error_of(ErrorKind::usage, [&] { (void)open_source(spec); });
  };
  std::string text = refusal(from(folder.path()));
  CHECK(contains(text, folder.path().string()));
  CHECK(contains(text, "train-images-idx3-ubyte"));
  CHECK(contains(text, "found: none"));

  write_file(folder / "train-images-idx3-ubyte", idx_images(1, 2, 2));
  text = refusal(from(folder.path()));
  CHECK(contains(text, "no training labels"));
  CHECK(contains(text, "found: train-images-idx3-ubyte"));

  write_file(folder / "train-labels-idx1-ubyte", idx_labels({1}));
  write_file(folder / "t10k-labels-idx1-ubyte", idx_labels({1}));
  CHECK(contains(refusal(from(folder.path())), "no test images"));

  write_gzip(folder / "more-labels-idx1-ubyte.gz", idx_labels({1}));
  CHECK(contains(refusal(from(folder.path())), "two files of training labels"));
  write_gzip(folder / "train-labels-idx1-ubyte.gz", idx_labels({1}));
  CHECK(contains(refusal(from(folder.path())), "hold the same"));

  CHECK(contains(refusal(from(folder / "nowhere")), "no such file"));
  write_file(folder / "photo.png", as_bytes("png"));
  CHECK(contains(refusal(from(folder / "photo.png")), "unknown kind"));
  CHECK(contains(refusal({}), "no source given"));
}

TEST_CASE("a mark in a file tells more than its name") {
  TemporaryFolder folder;
  fs::path images = write_gzip(folder / "a.bin", idx_images(2, 2, 2));
  fs::path labels = write_file(folder / "b.csv", idx_labels({0, 1}));
  fs::path test_images = write_file(folder / "test.1", idx_images(1, 2, 2));
  fs::path test_labels = write_file(folder / "test.2", idx_labels({4}));
  DatasetSource source = open_source(from(folder.path()));
  CHECK(source.kind == "idx");
  CHECK(source.train.labels == Bytes{0, 1});
  CHECK(source.test.labels == Bytes{4});
}

TEST_CASE("a forced format takes the files that are named") {
  TemporaryFolder folder;
  Bytes record(3073, 7);
  fs::path one = write_file(folder / "part-one", record);
  SourceSpec spec = from(one);
  CHECK(contains(error_of(ErrorKind::usage, [&] { (void)open_source(spec); }),
                 "data_batch_1.bin"));
  spec.format = "cifar";
  CHECK(open_source(spec).train.labels == Bytes{7});
  spec.paths.push_back(folder.path().string());  // names the same file again
  CHECK(open_source(spec).train.labels == Bytes{7});
  // Of a folder only those that are recognised.
  spec.paths = {folder.path().string()};
  CHECK(contains(error_of(ErrorKind::usage, [&] { (void)open_source(spec); }),
                 "found: part-one"));
  spec.format = "jpeg";
  CHECK(contains(error_of(ErrorKind::usage, [&] { (void)open_source(spec); }),
                 "--format jpeg: unknown; looked for idx"));
}

TEST_CASE("files of two formats are listed, and --format chooses") {
  TemporaryFolder folder;
  write_file(folder / "x-images-idx3-ubyte", idx_images(2, 2, 2));
  write_file(folder / "x-labels-idx1-ubyte", idx_labels({0, 1}));
  write_file(folder / "data_batch_1.bin", Bytes(3073, 5));
  SourceSpec spec = from(folder.path());
  std::string text =
      error_of(ErrorKind::usage, [&] { (void)open_source(spec); });
  CHECK(contains(text, "two formats, cifar and idx"));
  CHECK(contains(text, "data_batch_1.bin, x-images-idx3-ubyte"));
  spec.format = "idx";
  CHECK(open_source(spec).kind == "idx");
}

TEST_CASE("a folder of very many files is none of data") {
  TemporaryFolder folder;
  for (int i = 0; i <= 1000; ++i) {
    std::ofstream(folder.path() / std::to_string(i));
  }
  CHECK(contains(error_of(ErrorKind::usage,
                          [&] { (void)open_source(from(folder.path())); }),
                 "more than 1000 files"));
}

TEST_CASE("reading reports how far each file is") {
  TemporaryFolder folder;
  fs::path path = write_gzip(folder / "data_batch_1.bin.gz", Bytes(3073, 3));
  std::uint64_t last = 0;
  (void)open_source(from(path), [&](const std::string& file, std::uint64_t done,
                                    std::uint64_t all) {
    CHECK(file == path.string());
    CHECK(all == fs::file_size(path));
    CHECK(done >= last);
    last = done;
  });
  CHECK(last == fs::file_size(path));
}

TEST_CASE("parts that do not belong together are refused") {
  TemporaryFolder folder;
  write_file(folder / "train-images-idx3-ubyte", idx_images(3, 2, 2));
  write_file(folder / "train-labels-idx1-ubyte", idx_labels({0, 1}));
  std::string text = error_of(ErrorKind::corrupt,
                              [&] { (void)open_source(from(folder.path())); });
  CHECK(contains(text, "has 3 images"));

  write_file(folder / "train-labels-idx1-ubyte", idx_labels({0, 1, 2}));
  write_file(folder / "t10k-images-idx3-ubyte", idx_images(1, 2, 3));
  write_file(folder / "t10k-labels-idx1-ubyte", idx_labels({0}));
  text = error_of(ErrorKind::corrupt,
                  [&] { (void)open_source(from(folder.path())); });
  CHECK(contains(text, "2 x 3 x 1, but the earlier ones have 2 x 2 x 1"));
}

TEST_CASE("Fashion-MNIST is found in its folder") {
  std::optional<fs::path> folder = test::data_path("fashion-mnist");
  if (!folder) {
    MESSAGE("skipped: no fashion-mnist in QUORATE_DATA");
    return;
  }
  DatasetSource source = open_source(from(*folder));
  CHECK(source.train.samples() == 60000);
  CHECK(source.test.samples() == 10000);
  CHECK(source.classes == 10);
}

}  // namespace
}  // namespace quorate

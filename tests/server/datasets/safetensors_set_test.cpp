#include "server/datasets/readers/safetensors_set.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "server/datasets/readers/readers.h"
#include "tests/server/datasets/files.h"
#include "tests/support/data.h"
#include "workunits/objects/safetensors.h"

namespace quorate {
namespace {

DatasetSource read(ByteView bytes) {
  TemporaryFolder folder;
  fs::path path = write_file(folder / "f.safetensors", bytes);
  return read_safetensors_set({{path}, {}}, {}, {});
}

std::string refusal(const std::vector<TensorView>& tensors) {
  Bytes bytes = write_safetensors(tensors);
  return error_of(ErrorKind::corrupt, [&] { (void)read(bytes); });
}

const Bytes kPixels = {1, 2, 3, 4, 5, 6, 7, 8};
const Bytes kLabels = {3, 1};
const TensorView kImages{"images", DType::u8, {2, 2, 2}, kPixels};
const TensorView kPlainLabels{"labels", DType::u8, {2}, kLabels};

TEST_CASE("golden: parts by tensor and by file, both types of label, gzip") {
  DatasetSource source = open_source(golden_spec("safetensors"));
  CHECK(source.kind == "safetensors");
  CHECK(source.shape == SampleShape{2, 3, 2});
  CHECK(source.classes == 10);
  CHECK(source.train.labels == golden_labels(0, 4));
  CHECK(source.train.images == golden_images(0, 4, source.shape));
  CHECK(source.test.labels == golden_labels(4, 2));
  CHECK(source.test.images == golden_images(4, 2, source.shape));
}

TEST_CASE("images without channels are grey") {
  DatasetSource source =
      read(write_safetensors(std::vector<TensorView>{kImages, kPlainLabels}));
  CHECK(source.shape == SampleShape{2, 2, 1});
  CHECK(source.classes == 4);
  CHECK(source.train.images == kPixels);
  CHECK(source.train.labels == kLabels);
}

TEST_CASE("a shard of ours is such a file") {
  Bytes shard = write_shard({{2, 1, 2}, 2, kPixels, kLabels});
  DatasetSource source = read(shard);
  CHECK(source.shape == SampleShape{2, 1, 2});
  CHECK(source.train.images == kPixels);
}

TEST_CASE("tensors that make no samples are named") {
  CHECK(contains(refusal({kImages}), "tensor \"labels\": is missing"));
  CHECK(contains(refusal({kPlainLabels}), "tensor \"images\": is missing"));
  CHECK(contains(refusal({{"x", DType::u8, {8}, kPixels}}),
                 "or train_images, train_labels, test_images and test_labels; "
                 "found 1: x"));
  CHECK(contains(
      refusal({{"images", DType::u8, {2, 4}, kPixels}, kPlainLabels}),
      "expected U8 [n,h,w,c] or [n,h,w], no side above 16384, found U8 [2,4]"));
  CHECK(contains(
      refusal({{"images", DType::i8, {2, 2, 2}, kPixels}, kPlainLabels}),
      "found I8 [2,2,2]"));
  CHECK(contains(refusal({kImages, {"labels", DType::i16, {1}, kLabels}}),
                 "expected U8 or I64 [2], as there are images, found I16 [1]"));
  CHECK(contains(
      refusal(
          {kImages, {"labels", DType::u8, {1}, ByteView(kLabels).first(1)}}),
      "found U8 [1]"));
}

TEST_CASE("sides are bounded before they are multiplied") {
  const std::uint64_t huge = (1ULL << 32) + 2;
  for (std::vector<std::uint64_t> shape :
       {std::vector<std::uint64_t>{0, huge, 2},
        {0, 16384, 16384, 16},
        {0, 2, 2, 17},
        {0, 2, 2, 0}}) {
    (void)refusal(
        {{"images", DType::u8, shape, {}}, {"labels", DType::u8, {0}, {}}});
  }
}

TEST_CASE("wide labels are those of a class") {
  for (std::int64_t label : {-1L, 256L, 1L << 40}) {
    std::int64_t labels[] = {255, label};
    ByteView raw(reinterpret_cast<const std::uint8_t*>(labels), 16);
    CHECK(
        contains(refusal({kImages, {"labels", DType::i64, {2}, raw}}),
                 fmt::format("sample 1: label {}, expected 0 to 255", label)));
  }
}

TEST_CASE("a file cut at any byte is refused, a changed one never crashes") {
  Bytes bytes =
      write_safetensors(std::vector<TensorView>{kImages, kPlainLabels});
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    (void)error_of(ErrorKind::corrupt,
                   [&] { (void)read(ByteView(bytes).first(size)); });
  }
  for (std::size_t at = 0; at < bytes.size(); ++at) {
    Bytes changed = bytes;
    changed[at] ^= 0x15;
    try {
      DatasetSource source = read(changed);
      CHECK(source.train.images.size() ==
            source.train.samples() * source.shape.size());
    } catch (const Error& error) {
      CHECK(name_of(error.kind()) == name_of(ErrorKind::corrupt));
    }
  }
}

TEST_CASE("a model's parameters are no samples") {
  std::optional<fs::path> folder = test::data_path("interop/safetensors");
  if (!folder) {
    MESSAGE("skipped: no interop/safetensors in QUORATE_DATA");
    return;
  }
  SourceSpec spec{{(*folder / "linear.safetensors").string()}};
  CHECK(contains(error_of(ErrorKind::corrupt, [&] { (void)open_source(spec); }),
                 "expected tensors images and labels"));
}

}  // namespace
}  // namespace quorate

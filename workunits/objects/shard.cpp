#include "workunits/objects/shard.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "base/error.h"
#include "workunits/objects/safetensors.h"

namespace quorate {
namespace {

constexpr std::uint64_t kMaxSamples = 1ULL << 24;
constexpr const char* kImages = "images";
constexpr const char* kLabels = "labels";

// Bounded one by one, so that no product below can overflow.
void check_shape(const std::vector<std::uint64_t>& shape,
                 const std::string& what) {
  bool fits = shape.size() == 4 && shape[0] >= 1 && shape[0] <= kMaxSamples;
  std::uint64_t sample = 1;
  for (std::size_t i = 1; fits && i < shape.size(); ++i) {
    fits = shape[i] >= 1 && shape[i] <= kMaxSampleValues;
    sample *= shape[i];
    fits = fits && sample <= kMaxSampleValues;
  }
  if (!fits) {
    throw Error(ErrorKind::corrupt,
                fmt::format("{}: expected images of shape [n, h, w, c] with n "
                            "and h*w*c in 1 to {}",
                            what, kMaxSamples));
  }
}

void check_labels(ByteView labels, std::uint32_t classes,
                  const std::string& what) {
  auto bad = std::find_if(labels.begin(), labels.end(),
                          [classes](auto label) { return label >= classes; });
  if (bad != labels.end()) {
    throw Error(ErrorKind::corrupt,
                fmt::format("{}: sample {} has label {}, classes are {}", what,
                            bad - labels.begin(), *bad, classes));
  }
}

}  // namespace

Bytes write_shard(const ShardView& shard) {
  const SampleShape& shape = shard.shape;
  std::array<TensorView, 2> tensors{
      TensorView{kImages,
                 DType::u8,
                 {shard.samples, shape.height, shape.width, shape.channels},
                 shard.images},
      TensorView{kLabels, DType::u8, {shard.samples}, shard.labels}};
  return write_safetensors(tensors);
}

ShardView read_shard(ByteView bytes, std::uint32_t classes,
                     const std::string& what) {
  Safetensors file(bytes, what);
  if (file.tensors().size() != 2) {
    throw Error(ErrorKind::corrupt,
                fmt::format("{}: expected images and labels, found {} tensors",
                            what, file.tensors().size()));
  }
  const TensorView& images = file.get(kImages, DType::u8);
  check_shape(images.shape, what);
  const TensorView& labels = file.get(kLabels, DType::u8, {images.shape[0]});
  check_labels(labels.data, classes, what);
  ShardView shard;
  shard.samples = static_cast<std::uint32_t>(images.shape[0]);
  shard.shape.height = static_cast<std::uint32_t>(images.shape[1]);
  shard.shape.width = static_cast<std::uint32_t>(images.shape[2]);
  shard.shape.channels = static_cast<std::uint32_t>(images.shape[3]);
  shard.images = images.data;
  shard.labels = labels.data;
  return shard;
}

}  // namespace quorate

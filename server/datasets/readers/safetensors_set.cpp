#include "server/datasets/readers/safetensors_set.h"

#include <algorithm>
#include <cstring>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/error.h"
#include "workunits/objects/safetensors.h"

namespace quorate {
namespace {

constexpr std::uint64_t kMaxHeader =
    1 << 20;  // as workunits/objects/safetensors has it
constexpr std::uint64_t kMaxLabel = 255;
constexpr std::size_t kShown = 8;  // names of tensors in an error

[[noreturn]] void refuse(const std::string& file, const std::string& tensor,
                         const std::string& why) {
  throw Error(ErrorKind::corrupt,
              fmt::format("{}: tensor \"{}\": {}", file, tensor, why));
}

std::string text_of(const TensorView& tensor) {
  return fmt::format("{} [{}]", name_of(tensor.dtype),
                     fmt::join(tensor.shape, ","));
}

SampleShape shape_of(const TensorView& images, const std::string& file) {
  std::size_t rank = images.shape.size();
  bool fits = images.dtype == DType::u8 && (rank == 3 || rank == 4) &&
              std::all_of(images.shape.begin() + 1, images.shape.end(),
                          [](std::uint64_t side) { return side <= kMaxSide; });
  if (!fits) {
    refuse(file, images.name,
           fmt::format("expected U8 [n,h,w,c] or [n,h,w], no side above {}, "
                       "found {}",
                       kMaxSide, text_of(images)));
  }
  auto side = [&](std::size_t i) {
    return i < rank ? static_cast<std::uint32_t>(images.shape[i]) : 1;
  };
  return {side(1), side(2), side(3)};
}

void append_labels(const TensorView& tensor, std::uint64_t samples,
                   const std::string& file, Bytes& labels) {
  bool is_wide = tensor.dtype == DType::i64;
  if ((!is_wide && tensor.dtype != DType::u8) ||
      tensor.shape != std::vector<std::uint64_t>{samples}) {
    refuse(file, tensor.name,
           fmt::format("expected U8 or I64 [{}], as there are images, found {}",
                       samples, text_of(tensor)));
  }
  std::size_t size = size_of(tensor.dtype);
  for (std::size_t i = 0; i < samples; ++i) {
    std::uint64_t label = 0;  // little-endian; negative ones come out large
    std::memcpy(&label, tensor.data.data() + i * size, size);
    if (label > kMaxLabel) {
      refuse(file, tensor.name,
             fmt::format("sample {}: label {}, expected 0 to {}", i,
                         static_cast<std::int64_t>(label), kMaxLabel));
    }
    labels.push_back(static_cast<std::uint8_t>(label));
  }
}

// The tensors of one file.
class TensorFile {
 public:
  TensorFile(const std::string& name, ByteView bytes)
      : name_(name), tensors_(bytes, name) {}

  // Appends the samples of PREFIXimages and PREFIXlabels; false if the file has
  // neither.
  bool append(const std::string& prefix, DatasetSource& source,
              SampleSet& part) const {
    const TensorView* images = find(prefix + "images");
    const TensorView* labels = find(prefix + "labels");
    if (images == nullptr && labels == nullptr) return false;
    if (images == nullptr) refuse(name_, prefix + "images", "is missing");
    if (labels == nullptr) refuse(name_, prefix + "labels", "is missing");
    take_shape(source, shape_of(*images, name_), name_);
    expect_room(source, images->data.size(), name_);
    append_labels(*labels, images->shape[0], name_, part.labels);
    part.images.insert(part.images.end(), images->data.begin(),
                       images->data.end());
    return true;
  }

  [[noreturn]] void refuse_all() const {
    std::vector<std::string> found;
    for (const TensorView& tensor : tensors_.tensors()) {
      if (found.size() < kShown) found.push_back(tensor.name.substr(0, 80));
    }
    throw Error(
        ErrorKind::corrupt,
        fmt::format("{}: expected tensors images and labels, or "
                    "train_images, train_labels, test_images and "
                    "test_labels; found {}: {}",
                    name_, tensors_.tensors().size(), fmt::join(found, ", ")));
  }

 private:
  const TensorView* find(const std::string& tensor) const {
    const std::vector<TensorView>& all = tensors_.tensors();
    auto found = std::find_if(all.begin(), all.end(), [&](const TensorView& t) {
      return t.name == tensor;
    });
    return found == all.end() ? nullptr : &*found;
  }

  std::string name_;
  Safetensors tensors_;
};

void append_file(const fs::path& path, const ReadProgress& progress,
                 DatasetSource& source, SampleSet& named_part) {
  DataFile data(path, kMaxDatasetBytes, progress);
  Bytes bytes = data.rest();
  TensorFile file(data.name(), bytes);
  bool has_train = file.append("train_", source, source.train);
  bool has_test = file.append("test_", source, source.test);
  bool has_plain = file.append("", source, named_part);
  if (!has_train && !has_test && !has_plain) file.refuse_all();
}

}  // namespace

bool is_safetensors_head(ByteView head) {
  std::uint64_t length = 0;
  if (head.size() <= sizeof length) return false;
  std::memcpy(&length, head.data(), sizeof length);
  return length >= 2 && length <= kMaxHeader && head[sizeof length] == '{';
}

bool is_safetensors_name(const std::string& plain_name) {
  return plain_name.ends_with(".safetensors");
}

DatasetSource read_safetensors_set(const SourceFiles& files, const SourceSpec&,
                                   const ReadProgress& progress) {
  DatasetSource source;
  source.kind = "safetensors";
  for (const fs::path& file : files.train) {
    append_file(file, progress, source, source.train);
  }
  for (const fs::path& file : files.test) {
    append_file(file, progress, source, source.test);
  }
  count_classes(source);
  return source;
}

}  // namespace quorate

// A tensor container whose every byte before the data follows from the task, so
// that a reader compares it and parses nothing. fp32: the model's parameters.
// The others: "scales" F32, one per block; "statistics" F32, if the model has
// any; "codes" U8, block after block.
#include "workunits/objects/update.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <utility>

#include <fmt/format.h>

#include "base/arithmetic.h"
#include "base/error.h"
#include "base/parallel.h"
#include "base/random.h"
#include "workunits/codec.h"
#include "workunits/objects/safetensors.h"

namespace quorate {
namespace {

// That a thread takes at a time: some 100 microseconds.
constexpr std::size_t kBlocksAtOnce = 64;

// Of a tensor that is learned: its first value, block and byte of codes. Every
// tensor begins a block of its own.
struct Place {
  std::size_t value = 0;
  std::size_t block = 0;
  std::size_t code = 0;
};

// What all updates of a model by a codec have in common.
struct Layout {
  ModelSpec model;
  Codec codec = Codec::fp32;
  std::vector<TensorView> tensors;  // without data
  std::map<std::string, std::string> metadata;
  Bytes head;  // what precedes the data
  std::uint64_t data_bytes = 0;
  std::size_t learned = 0;  // values
  std::size_t statistics = 0;
  // Of every tensor, and where the next one would be; of fp32 none.
  std::vector<Place> places;

  std::size_t blocks() const { return places.back().block; }
};

std::vector<Place> places_of(const ModelSpec& model, Codec codec) {
  std::vector<Place> places;
  Place next;
  for (const TensorSpec& tensor : tensors_of(layers_of(model))) {
    places.push_back(next);
    const std::size_t whole = tensor.size() / kCodecBlock;
    const std::size_t rest = tensor.size() % kCodecBlock;
    next.value += tensor.size();
    next.block += whole + (rest != 0 ? 1 : 0);
    next.code += whole * code_bytes(codec, kCodecBlock) +
                 (rest != 0 ? code_bytes(codec, rest) : 0);
  }
  places.push_back(next);
  return places;
}

void list_parameters(Layout& layout) {
  for (const TensorSpec& tensor : parameters_of(layout.model)) {
    layout.tensors.push_back({tensor.name,
                              DType::f32,
                              {tensor.shape.begin(), tensor.shape.end()},
                              {}});
  }
}

void list_codes(Layout& layout) {
  layout.metadata["codec"] = name_of(layout.codec);
  layout.places = places_of(layout.model, layout.codec);
  layout.tensors.push_back({"scales", DType::f32, {layout.blocks()}, {}});
  if (layout.statistics > 0) {
    layout.tensors.push_back(
        {"statistics", DType::f32, {layout.statistics}, {}});
  }
  layout.tensors.push_back(
      {"codes", DType::u8, {layout.places.back().code}, {}});
}

Layout make_layout(const ModelSpec& model, Codec codec) {
  Layout layout;
  layout.model = model;
  layout.codec = codec;
  layout.learned = trainable_count(model);
  layout.statistics = statistic_count(model);
  codec == Codec::fp32 ? list_parameters(layout) : list_codes(layout);
  layout.head = head_of(layout.tensors, layout.metadata);
  layout.data_bytes = data_bytes(layout.tensors);
  return layout;
}

// A server decodes thousands of updates of one run, one after another.
std::shared_ptr<const Layout> layout_of(const TrainingTask& task) {
  thread_local std::shared_ptr<const Layout> last;
  if (!last || last->codec != task.codec || last->model != task.model) {
    last = std::make_shared<Layout>(make_layout(task.model, task.codec));
  }
  return last;
}

std::span<const std::uint8_t> bytes_of(std::span<const float> values) {
  return {reinterpret_cast<const std::uint8_t*>(values.data()),
          values.size_bytes()};
}

[[noreturn]] void reject(const std::string& what, const std::string& why) {
  throw Error(ErrorKind::corrupt, what + ": " + why);
}

void expect_finite(std::span<const float> values, const std::string& what) {
  if (!all_finite(values)) reject(what, "elements that are not finite");
}

// The data of the update, once what precedes them is as it must be.
ByteView data_of(const Layout& layout, ByteView bytes,
                 const std::string& what) {
  const Bytes& head = layout.head;
  const std::uint64_t size = head.size() + layout.data_bytes;
  if (bytes.size() != size) {
    reject(what,
           fmt::format("expected {} bytes, found {}", size, bytes.size()));
  }
  if (!std::equal(head.begin(), head.end(), bytes.begin())) {
    reject(what, fmt::format("its header is not that of an update of this "
                             "model by codec {}",
                             name_of(layout.codec)));
  }
  return bytes.subspan(head.size());
}

// Takes as many floats from the front as there is room for.
void take_floats(ByteView& data, std::span<float> out) {
  std::memcpy(out.data(), data.data(), out.size_bytes());
  data = data.subspan(out.size_bytes());
}

// The values of an update by a codec, where they lie encoded: "scales",
// "statistics", "codes".
class EncodedValues {
 public:
  EncodedValues(std::shared_ptr<const Layout> layout, ByteView data)
      : layout_(std::move(layout)),
        scales_(data.first(layout_->blocks() * sizeof(float))),
        statistics_(
            data.subspan(scales_.size(), layout_->statistics * sizeof(float))),
        codes_(data.subspan(scales_.size() + statistics_.size())) {}

  std::size_t size() const { return layout_->learned + layout_->statistics; }

  // Elements [first, first + out.size()). Throws corrupt, naming `what`.
  void decode(std::size_t first, std::span<float> out,
              const std::string& what) const {
    const std::size_t learned = layout_->learned;
    while (!out.empty() && first < learned) {
      const std::size_t count = decode_from_block(first, out, what);
      first += count;
      out = out.subspan(count);
    }
    if (out.empty()) return;
    ByteView rest = statistics_.subspan((first - learned) * sizeof(float));
    take_floats(rest, out);
    expect_finite(out, what);
  }

 private:
  // The rest of the block that has element `first`, or as much as there is room
  // for; returns how many.
  std::size_t decode_from_block(std::size_t first, std::span<float> out,
                                const std::string& what) const {
    const Codec codec = layout_->codec;
    const auto after = std::upper_bound(
        layout_->places.begin(), layout_->places.end(), first,
        [](std::size_t value, const Place& p) { return value < p.value; });
    const Place& tensor = after[-1];
    const std::size_t end = after->value;
    const std::size_t number = (first - tensor.value) / kCodecBlock;
    const std::size_t begin = tensor.value + number * kCodecBlock;
    const std::size_t values = std::min(kCodecBlock, end - begin);
    const std::size_t count = std::min(out.size(), begin + values - first);
    std::array<float, kCodecBlock> whole;
    const bool is_whole = count == values;
    const std::span<float> room =
        is_whole ? out.first(count) : std::span(whole).first(values);
    float scale = 0.0F;
    std::memcpy(&scale,
                scales_.data() + (tensor.block + number) * sizeof(scale),
                sizeof(scale));
    const std::string_view fault = decode_block(
        codec, scale,
        codes_.subspan(tensor.code + number * code_bytes(codec, kCodecBlock),
                       code_bytes(codec, values)),
        room);
    if (!fault.empty()) {
      reject(what, fmt::format("block {}: {}", tensor.block + number, fault));
    }
    if (!is_whole)
      std::copy_n(whole.begin() + (first - begin), count, out.begin());
    return count;
  }

  std::shared_ptr<const Layout> layout_;
  ByteView scales_;
  ByteView statistics_;
  ByteView codes_;
};

// The file of an update by a codec, made block by block.
class Encoder {
 public:
  Encoder(std::shared_ptr<const Layout> layout, std::span<const float> delta)
      : layout_(std::move(layout)),
        delta_(delta),
        scales_(layout_->blocks()),
        codes_(layout_->places.back().code) {}

  std::size_t blocks() const { return layout_->blocks(); }

  // Of different blocks on several threads.
  void encode(std::size_t block, RandomStream& random) {
    const auto after = std::upper_bound(
        layout_->places.begin(), layout_->places.end(), block,
        [](std::size_t number, const Place& p) { return number < p.block; });
    const Place& tensor = after[-1];
    const std::size_t number = block - tensor.block;
    const std::size_t begin = tensor.value + number * kCodecBlock;
    const std::size_t values = std::min(kCodecBlock, after->value - begin);
    const std::span<std::uint8_t> codes = std::span(codes_).subspan(
        tensor.code + number * code_bytes(layout_->codec, kCodecBlock),
        code_bytes(layout_->codec, values));
    scales_[block] = encode_block(layout_->codec, delta_.subspan(begin, values),
                                  random, codes);
  }

  Bytes file() const {
    std::vector<TensorView> tensors = layout_->tensors;
    tensors.front().data = bytes_of(scales_);
    if (layout_->statistics > 0) {
      tensors[1].data = bytes_of(delta_.subspan(layout_->learned));
    }
    tensors.back().data = codes_;
    return write_safetensors(tensors, layout_->metadata);
  }

 private:
  std::shared_ptr<const Layout> layout_;
  std::span<const float> delta_;
  std::vector<float> scales_;
  Bytes codes_;
};

// Of an update in which nothing is wrong. Owner: of its bytes, which stay where
// they are when it is moved.
template <class Owner>
class OwningDecoder final : public BlockDecoder {
 public:
  OwningDecoder(Owner owner, EncodedValues values)
      : owner_(std::move(owner)), values_(std::move(values)) {}

  std::size_t size() const override { return values_.size(); }
  void decode(std::size_t first, std::span<float> out) const override {
    values_.decode(first, out, "update");
  }

 private:
  Owner owner_;
  EncodedValues values_;
};

// Throws corrupt, naming `what`, if anything is wrong with them.
void expect_sound(const EncodedValues& values, const std::string& what) {
  std::array<float, 4 * kCodecBlock> room;
  for (std::size_t first = 0; first < values.size(); first += room.size()) {
    const std::size_t count = std::min(room.size(), values.size() - first);
    values.decode(first, std::span(room).first(count), what);
  }
}

}  // namespace

std::uint64_t update_bytes(const TrainingTask& task) {
  const auto layout = layout_of(task);
  return layout->head.size() + layout->data_bytes;
}

Bytes encode_update(const TrainingTask& task, std::span<const float> delta) {
  check(delta.size() == parameter_count(task.model),
        "a value for every parameter");
  if (task.codec == Codec::fp32) return write_parameters(task.model, delta);
  Encoder encoder(layout_of(task), delta);
  RandomStream random(task.unit_seed, stream_of(RandomUse::codec), 0);
  for (std::size_t block = 0; block < encoder.blocks(); ++block) {
    encoder.encode(block, random);
  }
  return encoder.file();
}

Bytes encode_by_blocks(const TrainingTask& task, std::span<const float> delta,
                       std::size_t threads) {
  check(
      delta.size() == parameter_count(task.model) && task.codec != Codec::fp32,
      "a value for every parameter, and blocks");
  Encoder encoder(layout_of(task), delta);
  const std::size_t all = encoder.blocks();
  parallel_for((all + kBlocksAtOnce - 1) / kBlocksAtOnce, threads,
               [&](std::size_t part) {
                 const std::size_t first = part * kBlocksAtOnce;
                 const std::size_t end = std::min(first + kBlocksAtOnce, all);
                 for (std::size_t block = first; block < end; ++block) {
                   RandomStream random(task.unit_seed,
                                       stream_of(RandomUse::codec),
                                       static_cast<std::uint32_t>(block));
                   encoder.encode(block, random);
                 }
               });
  return encoder.file();
}

std::vector<float> decode_update(const TrainingTask& task, ByteView bytes,
                                 const std::string& what, std::size_t threads) {
  const auto layout = layout_of(task);
  ByteView data = data_of(*layout, bytes, what);
  std::vector<float> values(layout->learned + layout->statistics);
  if (task.codec == Codec::fp32) {
    take_floats(data, values);
    expect_finite(values, what);
  } else {
    const EncodedValues encoded(layout, data);
    constexpr std::size_t kAtOnce = kBlocksAtOnce * kCodecBlock;
    parallel_for(
        (values.size() + kAtOnce - 1) / kAtOnce, threads,
        [&](std::size_t part) {
          const std::size_t first = part * kAtOnce;
          const std::size_t count = std::min(kAtOnce, values.size() - first);
          encoded.decode(first, std::span(values).subspan(first, count), what);
        });
  }
  return values;
}

namespace {

// Encoded as they are, if they are many.
template <class Owner>
ParameterValues owned_values(const TrainingTask& task, Owner owner,
                             ByteView bytes, const std::string& what) {
  const auto layout = layout_of(task);
  EncodedValues values(layout, data_of(*layout, bytes, what));
  if (values.size() * sizeof(float) < kLeastMapped) {
    return decode_update(task, bytes, what);
  }
  expect_sound(values, what);
  return ParameterValues(std::make_unique<OwningDecoder<Owner>>(
      std::move(owner), std::move(values)));
}

}  // namespace

ParameterValues map_update(const TrainingTask& task, MappedFile file,
                           const std::string& what) {
  const ByteView bytes = file.bytes();
  if (task.codec != Codec::fp32) {
    return owned_values(task, std::move(file), bytes, what);
  }
  ParameterValues values(std::move(file),
                         data_of(*layout_of(task), bytes, what));
  expect_finite(values.all(), what);
  return values;
}

ParameterValues keep_update(const TrainingTask& task, Bytes bytes,
                            const std::string& what) {
  const ByteView all = bytes;
  if (task.codec == Codec::fp32) return decode_update(task, all, what);
  return owned_values(task, std::move(bytes), all, what);
}

}  // namespace quorate

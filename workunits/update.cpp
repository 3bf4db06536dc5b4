// A tensor container whose every byte before the data follows from the task, so
// that a reader compares it and parses nothing. fp32: the model's parameters.
// The others: "scales" F32, one per block; "statistics" F32, if the model has
// any; "codes" U8, block after block.
#include "workunits/update.h"

#include <algorithm>
#include <cstring>

#include <fmt/format.h>

#include "base/arithmetic.h"
#include "base/error.h"
#include "base/random.h"
#include "workunits/codec.h"
#include "workunits/safetensors.h"

namespace quorate {
namespace {

// How many values each block has, in order: every tensor that is learned
// begins a new one.
std::vector<std::size_t> blocks_of(const ModelSpec& model) {
  std::vector<std::size_t> blocks;
  for (const TensorSpec& tensor : tensors_of(layers_of(model))) {
    for (std::uint64_t left = tensor.size(); left > 0; left -= blocks.back()) {
      blocks.push_back(std::min<std::uint64_t>(left, kCodecBlock));
    }
  }
  return blocks;
}

struct Layout {
  std::vector<TensorView> tensors;  // without data
  std::map<std::string, std::string> metadata;
  std::vector<std::size_t> blocks;  // of fp32 none
};

Layout layout_of(const TrainingTask& task) {
  Layout layout;
  if (task.codec == Codec::fp32) {
    for (const TensorSpec& tensor : parameters_of(task.model)) {
      layout.tensors.push_back({tensor.name,
                                DType::f32,
                                {tensor.shape.begin(), tensor.shape.end()},
                                {}});
    }
    return layout;
  }
  layout.metadata["codec"] = name_of(task.codec);
  layout.blocks = blocks_of(task.model);
  std::size_t codes = 0;
  for (std::size_t values : layout.blocks) {
    codes += code_bytes(task.codec, values);
  }
  const std::uint64_t statistics = statistic_count(task.model);
  layout.tensors.push_back({"scales", DType::f32, {layout.blocks.size()}, {}});
  if (statistics > 0) {
    layout.tensors.push_back({"statistics", DType::f32, {statistics}, {}});
  }
  layout.tensors.push_back({"codes", DType::u8, {codes}, {}});
  return layout;
}

std::span<const std::uint8_t> bytes_of(std::span<const float> values) {
  return {reinterpret_cast<const std::uint8_t*>(values.data()),
          values.size_bytes()};
}

[[noreturn]] void reject(const std::string& what, const std::string& why) {
  throw Error(ErrorKind::corrupt, what + ": " + why);
}

// The data of the update, once what precedes them is as it must be.
ByteView data_of(const TrainingTask& task, const Layout& layout, ByteView bytes,
                 const std::string& what) {
  const Bytes head = head_of(layout.tensors, layout.metadata);
  const std::uint64_t size = head.size() + data_bytes(layout.tensors);
  if (bytes.size() != size) {
    reject(what,
           fmt::format("expected {} bytes, found {}", size, bytes.size()));
  }
  if (!std::equal(head.begin(), head.end(), bytes.begin())) {
    reject(what, fmt::format("its header is not that of an update of this "
                             "model by codec {}",
                             name_of(task.codec)));
  }
  return bytes.subspan(head.size());
}

// Takes as many floats from the front as there is room for.
void take_floats(ByteView& data, std::span<float> out) {
  std::memcpy(out.data(), data.data(), out.size_bytes());
  data = data.subspan(out.size_bytes());
}

void decode_blocks(Codec codec, std::span<const std::size_t> blocks,
                   std::span<const float> scales, ByteView codes,
                   std::span<float> values, const std::string& what) {
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    const std::size_t size = code_bytes(codec, blocks[i]);
    const std::string_view fault = decode_block(
        codec, scales[i], codes.first(size), values.first(blocks[i]));
    if (!fault.empty()) reject(what, fmt::format("block {}: {}", i, fault));
    codes = codes.subspan(size);
    values = values.subspan(blocks[i]);
  }
}

}  // namespace

std::uint64_t update_bytes(const TrainingTask& task) {
  const Layout layout = layout_of(task);
  return head_of(layout.tensors, layout.metadata).size() +
         data_bytes(layout.tensors);
}

Bytes encode_update(const TrainingTask& task, std::span<const float> delta) {
  check(delta.size() == parameter_count(task.model),
        "a value for every parameter");
  if (task.codec == Codec::fp32) return write_parameters(task.model, delta);
  Layout layout = layout_of(task);
  std::vector<float> scales;
  Bytes codes(layout.tensors.back().shape[0]);
  std::span<std::uint8_t> room = codes;
  RandomStream random(task.unit_seed, stream_of(RandomUse::codec), 0);
  for (std::size_t values : layout.blocks) {
    const std::size_t size = code_bytes(task.codec, values);
    scales.push_back(encode_block(task.codec, delta.first(values), random,
                                  room.first(size)));
    delta = delta.subspan(values);
    room = room.subspan(size);
  }
  layout.tensors.front().data = bytes_of(scales);
  if (!delta.empty()) layout.tensors[1].data = bytes_of(delta);
  layout.tensors.back().data = codes;
  return write_safetensors(layout.tensors, layout.metadata);
}

std::vector<float> decode_update(const TrainingTask& task, ByteView bytes,
                                 const std::string& what) {
  const Layout layout = layout_of(task);
  ByteView data = data_of(task, layout, bytes, what);
  std::vector<float> values(parameter_count(task.model));
  std::span<float> plain = values;
  if (task.codec == Codec::fp32) {
    take_floats(data, plain);
  } else {
    plain = plain.subspan(trainable_count(task.model));
    std::vector<float> scales(layout.blocks.size());
    take_floats(data, scales);
    take_floats(data, plain);
    decode_blocks(task.codec, layout.blocks, scales, data, values, what);
  }
  if (!all_finite(plain)) reject(what, "elements that are not finite");
  return values;
}

}  // namespace quorate

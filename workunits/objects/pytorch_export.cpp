#include "workunits/objects/pytorch_export.h"

#include <array>
#include <cstddef>
#include <cstring>
#include <optional>
#include <vector>

#include <fmt/format.h>

#include "base/error.h"
#include "workunits/objects/safetensors.h"

namespace quorate {
namespace {

using Extents = std::array<std::size_t, 4>;

// The elements of an array of `extents` with its axes in another order: axis i
// of the result is axis axes[i] of `from`.
std::vector<float> reordered(std::span<const float> from,
                             const Extents& extents, const Extents& axes) {
  Extents strides{};
  std::size_t stride = 1;
  for (std::size_t axis = 4; axis-- > 0;) {
    strides[axis] = stride;
    stride *= extents[axis];
  }
  auto size = [&](std::size_t axis) { return extents[axes[axis]]; };
  auto step = [&](std::size_t axis) { return strides[axes[axis]]; };
  std::vector<float> to;
  to.reserve(from.size());
  for (std::size_t a = 0; a < size(0); ++a) {
    for (std::size_t b = 0; b < size(1); ++b) {
      for (std::size_t c = 0; c < size(2); ++c) {
        for (std::size_t d = 0; d < size(3); ++d) {
          to.push_back(
              from[a * step(0) + b * step(1) + c * step(2) + d * step(3)]);
        }
      }
    }
  }
  return to;
}

void append(std::vector<float>& to, const std::vector<float>& more) {
  to.insert(to.end(), more.begin(), more.end());
}

// A weight of a convolution, and the shape it gets.
std::vector<float> convolution_weight(const LayerSpec& layer,
                                      std::span<const float> weight,
                                      TensorSpec& tensor) {
  std::uint32_t in = layer.in.channels / layer.groups;
  tensor.shape = {layer.out.channels, in, layer.window, layer.window};
  return reordered(weight, {layer.window, layer.window, in, layer.out.channels},
                   {3, 2, 0, 1});
}

// image: what the layer's inputs were before they were flattened.
std::vector<float> linear_weight(const LayerSpec& layer,
                                 const SampleShape& image,
                                 std::span<const float> weight) {
  return reordered(
      weight, {layer.out.channels, image.height, image.width, image.channels},
      {0, 3, 1, 2});
}

// Each value by itself.
bool keeps_order(LayerKind kind) {
  return kind == LayerKind::activation || kind == LayerKind::dropout ||
         kind == LayerKind::flatten;
}

// Goes through the layers in declared order and takes their values.
class Exporter {
 public:
  explicit Exporter(std::span<const float> values) : values_(values) {}

  void add(const std::vector<LayerSpec>& layers, const std::string& prefix) {
    // What was flattened, until a linear layer takes it.
    std::optional<SampleShape> flat;
    for (std::size_t i = 0; i < layers.size(); ++i) {
      const LayerSpec& layer = layers[i];
      std::string place = prefix + std::to_string(i);
      if (layer.kind == LayerKind::flatten) {
        flat = layer.in;
      } else if (layer.kind == LayerKind::linear) {
        add(layer, place, flat.value_or(SampleShape{1, 1, layer.in.channels}));
        flat.reset();
      } else if (flat && !keeps_order(layer.kind)) {
        throw Error(ErrorKind::unsupported,
                    fmt::format("export: layer {} comes after flatten and "
                                "before a linear layer, where PyTorch has "
                                "another order of values: put it before",
                                place));
      } else if (layer.kind == LayerKind::residual) {
        add(layer.branch, place + ".branch.");
        add(layer.shortcut, place + ".shortcut.");
      } else {
        add(layer, place, {});
      }
    }
  }

  // What follows all layers.
  void add_statistics(const std::vector<LayerSpec>& layers) {
    for (TensorSpec& tensor : running_statistics_of(layers)) {
      std::span<const float> part = take(tensor);
      out_.insert(out_.end(), part.begin(), part.end());
      tensors_.push_back(std::move(tensor));
    }
  }

  const std::vector<TensorSpec>& tensors() const { return tensors_; }
  const std::vector<float>& values() const { return out_; }

 private:
  void add(const LayerSpec& layer, const std::string& place,
           const SampleShape& image) {
    bool is_weight = true;  // the first tensor of a layer
    for (TensorSpec& tensor : tensors_of(layer, place)) {
      std::span<const float> part = take(tensor);
      if (is_weight && layer.kind == LayerKind::conv2d) {
        append(out_, convolution_weight(layer, part, tensor));
      } else if (is_weight && layer.kind == LayerKind::linear) {
        append(out_, linear_weight(layer, image, part));
      } else {
        out_.insert(out_.end(), part.begin(), part.end());
      }
      is_weight = false;
      tensors_.push_back(std::move(tensor));
    }
  }

  std::span<const float> take(const TensorSpec& tensor) {
    std::span<const float> part = values_.first(tensor.size());
    values_ = values_.subspan(tensor.size());
    return part;
  }

  std::span<const float> values_;  // those that are left
  std::vector<TensorSpec> tensors_;
  std::vector<float> out_;
};

Exporter exported(const ModelSpec& model, std::span<const float> values) {
  Exporter exporter(values);
  const std::vector<LayerSpec> layers = layers_of(model);
  exporter.add(layers, "");
  exporter.add_statistics(layers);
  return exporter;
}

// Where each exported value was in declared order: an export of the numbers of
// the places, in two parts that binary32 has exactly.
std::vector<std::size_t> places_of(const ModelSpec& model) {
  constexpr std::size_t kPart = std::size_t{1} << 20;
  std::vector<float> numbers(parameter_count(model));
  auto export_part = [&](auto part_of) {
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      numbers[i] = static_cast<float>(part_of(i));
    }
    return exported(model, numbers).values();
  };
  const std::vector<float> low =
      export_part([](std::size_t i) { return i % kPart; });
  const std::vector<float> high =
      export_part([](std::size_t i) { return i / kPart; });
  std::vector<std::size_t> places;
  for (std::size_t i = 0; i < low.size(); ++i) {
    places.push_back(static_cast<std::size_t>(high[i]) * kPart +
                     static_cast<std::size_t>(low[i]));
  }
  return places;
}

}  // namespace

Bytes write_for_pytorch(const ModelSpec& model, std::span<const float> values,
                        const std::map<std::string, std::string>& metadata) {
  const Exporter exporter = exported(model, values);
  return write_tensors(exporter.tensors(), exporter.values(), metadata);
}

std::vector<float> read_from_pytorch(const ModelSpec& model, ByteView bytes,
                                     const std::string& what) {
  const Safetensors file(bytes, what);
  std::vector<float> values(parameter_count(model));
  const std::vector<TensorSpec> tensors = exported(model, values).tensors();
  if (file.tensors().size() != tensors.size()) {
    throw Error(
        ErrorKind::corrupt,
        fmt::format("{}: expected the {} tensors of a {}, found {}", what,
                    tensors.size(), name_of(model), file.tensors().size()));
  }
  const std::vector<std::size_t> places = places_of(model);
  auto place = places.begin();
  for (const TensorSpec& tensor : tensors) {
    const std::vector<std::uint64_t> shape(tensor.shape.begin(),
                                           tensor.shape.end());
    const ByteView data = file.get(tensor.name, DType::f32, shape).data;
    for (std::size_t i = 0; i < data.size(); i += sizeof(float)) {
      std::memcpy(&values[*place++], data.data() + i, sizeof(float));
    }
  }
  return values;
}

}  // namespace quorate

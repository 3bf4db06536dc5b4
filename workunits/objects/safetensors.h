// The one tensor container, for snapshots, updates, shards and exports:
// 8 bytes header length, a JSON header, raw little-endian data. Written
// canonically: declared order, header padded with spaces so that the data start
// at a multiple of 64 bytes, no host metadata. Equal content has equal bytes.
// Format: https://github.com/huggingface/safetensors (docs/formats.md).
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "workunits/models/model_spec.h"
#include "workunits/objects/byte_parts.h"
#include "workunits/objects/parameter_values.h"

namespace quorate {

// The format's element types of whole bytes. We write u8 and f32; the others
// are read, so that a file from elsewhere opens.
enum class DType {
  boolean,
  u8,
  i8,
  f8_e5m2,
  f8_e4m3,
  u16,
  i16,
  f16,
  bf16,
  u32,
  i32,
  f32,
  u64,
  i64,
  f64,
};
std::size_t size_of(DType dtype);       // bytes
std::string_view name_of(DType dtype);  // "F32"

// A named array in a container; data points into the container's bytes.
struct TensorView {
  std::string name;
  DType dtype = DType::f32;
  std::vector<std::uint64_t> shape;
  ByteView data;
};

// A container that was read; the views live as long as the bytes given.
class Safetensors {
 public:
  // Checks every length, offset and shape against `bytes` before use: headers
  // up to 1 MiB, no overlaps, no holes. Throws corrupt, naming `what`.
  Safetensors(ByteView bytes, std::string what);

  const std::vector<TensorView>& tensors() const { return tensors_; }
  const std::map<std::string, std::string>& metadata() const {
    return metadata_;
  }
  // Throws corrupt if there is none, or it has another type or shape (an empty
  // `shape` takes any).
  const TensorView& get(std::string_view name, DType dtype,
                        const std::vector<std::uint64_t>& shape = {}) const;

 private:
  std::string what_;
  std::vector<TensorView> tensors_;
  std::map<std::string, std::string> metadata_;
};

// The tensors' data stay where they are.
ByteParts safetensors_parts(
    std::span<const TensorView> tensors,
    const std::map<std::string, std::string>& metadata = {});
Bytes write_safetensors(
    std::span<const TensorView> tensors,
    const std::map<std::string, std::string>& metadata = {});
// What write_safetensors() puts before the data, and the bytes of the data.
// Both follow from names, types and shapes: `data` of the tensors is not read.
Bytes head_of(std::span<const TensorView> tensors,
              const std::map<std::string, std::string>& metadata);
std::uint64_t data_bytes(std::span<const TensorView> tensors);

// Tensors as f32; values: their elements, one tensor after another.
Bytes write_tensors(std::span<const TensorSpec> tensors,
                    std::span<const float> values,
                    const std::map<std::string, std::string>& metadata);

// Parameters (or a change to them) of a model: its tensors as f32 in declared
// order. values: parameter_count(model) of them.
Bytes write_parameters(const ModelSpec& model, std::span<const float> values,
                       const std::map<std::string, std::string>& metadata = {});
// The same; the values stay where they are, unless there is a NaN.
ByteParts parameter_parts(const ModelSpec& model,
                          std::span<const float> values);
// Throws corrupt, naming `what` and the tensor, unless `bytes` hold exactly the
// tensors of `model` in declared order.
std::vector<float> read_parameters(const ModelSpec& model, ByteView bytes,
                                   const std::string& what);
// The same of a file, which must not change: they may stay there.
ParameterValues map_parameters(const ModelSpec& model, MappedFile file,
                               const std::string& what);

}  // namespace quorate

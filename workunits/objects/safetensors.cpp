// Grammar: N as u64 little-endian, N bytes of JSON, data. The JSON is one
// object: tensor name -> {"dtype", "shape", "data_offsets": [begin, end) in the
// data}, and "__metadata__" -> texts by name. Offsets cover the data without
// overlap or hole.
#include "workunits/objects/safetensors.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <optional>
#include <tuple>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/arithmetic.h"
#include "base/error.h"
#include "base/json_fields.h"

namespace quorate {
namespace {

static_assert(std::endian::native == std::endian::little,
              "values are copied from and to little-endian files");

constexpr std::size_t kLengthBytes = 8;
constexpr std::size_t kAlignment = 64;
constexpr JsonLimits kLimits{1 << 20, 3};
constexpr const char* kMetadata = "__metadata__";

struct DTypeRow {
  DType dtype;
  std::string_view name;
  std::size_t size;
};
constexpr std::array kDTypes = {
    DTypeRow{DType::boolean, "BOOL", 1},
    DTypeRow{DType::u8, "U8", 1},
    DTypeRow{DType::i8, "I8", 1},
    DTypeRow{DType::f8_e5m2, "F8_E5M2", 1},
    DTypeRow{DType::f8_e4m3, "F8_E4M3", 1},
    DTypeRow{DType::u16, "U16", 2},
    DTypeRow{DType::i16, "I16", 2},
    DTypeRow{DType::f16, "F16", 2},
    DTypeRow{DType::bf16, "BF16", 2},
    DTypeRow{DType::u32, "U32", 4},
    DTypeRow{DType::i32, "I32", 4},
    DTypeRow{DType::f32, "F32", 4},
    DTypeRow{DType::u64, "U64", 8},
    DTypeRow{DType::i64, "I64", 8},
    DTypeRow{DType::f64, "F64", 8},
};

const DTypeRow& row_of(DType dtype) {
  return kDTypes.at(static_cast<std::size_t>(dtype));
}

// The bytes of an array; nullopt if they are 2^64 or more.
std::optional<std::uint64_t> byte_size(
    DType dtype, const std::vector<std::uint64_t>& shape) {
  std::uint64_t product = size_of(dtype);
  for (std::uint64_t extent : shape) {
    if (__builtin_mul_overflow(product, extent, &product)) return {};
  }
  return product;
}

// One tensor's entry, checked on its own.
class EntryReader {
 public:
  EntryReader(const std::string& what, const std::string& name,
              const nlohmann::json& json)
      : label_(fmt::format("{}: tensor \"{}\"", what, name)),
        fields_(json, label_) {}

  TensorView read(const std::string& name, ByteView data) const {
    TensorView view;
    view.name = name;
    view.dtype = dtype();
    view.shape = integers("shape");
    std::vector<std::uint64_t> range = integers("data_offsets");
    if (range.size() != 2 || range[0] > range[1] || range[1] > data.size()) {
      reject(fmt::format("offsets [{}] in {} bytes of data",
                         fmt::join(range, ","), data.size()));
    }
    std::uint64_t size = range[1] - range[0];
    if (byte_size(view.dtype, view.shape) != size) {
      reject(fmt::format("{} [{}] in {} bytes", name_of(view.dtype),
                         fmt::join(view.shape, ","), size));
    }
    view.data = data.subspan(range[0], size);
    return view;
  }

 private:
  [[noreturn]] void reject(const std::string& why) const {
    throw Error(ErrorKind::corrupt, label_ + ": " + why);
  }

  DType dtype() const {
    std::string text = fields_.text("dtype", 16);
    for (const DTypeRow& row : kDTypes) {
      if (row.name == text) return row.dtype;
    }
    reject(fmt::format("unknown type {}", text));
  }

  std::vector<std::uint64_t> integers(const char* field) const {
    const nlohmann::json& list = fields_.at(field);
    if (!list.is_array()) reject(fmt::format("{} is no array", field));
    std::vector<std::uint64_t> numbers;
    for (const nlohmann::json& number : list) {
      if (!number.is_number_unsigned()) {
        reject(fmt::format("{} holds something else than sizes", field));
      }
      numbers.push_back(number.get<std::uint64_t>());
    }
    return numbers;
  }

  std::string label_;
  JsonFields fields_;
};

std::map<std::string, std::string> read_metadata(const nlohmann::json& json,
                                                 const std::string& what) {
  std::map<std::string, std::string> metadata;
  bool is_valid = json.is_object();
  if (is_valid) {
    for (const auto& [key, value] : json.items()) {
      is_valid = is_valid && value.is_string();
      if (is_valid) metadata[key] = value.get<std::string>();
    }
  }
  if (!is_valid) {
    throw Error(ErrorKind::corrupt,
                fmt::format("{}: {} is not texts by name", what, kMetadata));
  }
  return metadata;
}

// In the order of their data, which must be covered from end to end.
void sort_and_check_cover(std::vector<TensorView>& tensors, ByteView data,
                          const std::string& what) {
  std::sort(tensors.begin(), tensors.end(),
            [](const TensorView& a, const TensorView& b) {
              return std::tuple(a.data.data(), a.data.size()) <
                     std::tuple(b.data.data(), b.data.size());
            });
  const std::uint8_t* end = data.data();
  for (const TensorView& tensor : tensors) {
    if (tensor.data.data() != end) {
      throw Error(ErrorKind::corrupt,
                  fmt::format("{}: tensor \"{}\": overlaps the one before or "
                              "leaves a hole",
                              what, tensor.name));
    }
    end += tensor.data.size();
  }
  if (end != data.data() + data.size()) {
    throw Error(ErrorKind::corrupt,
                fmt::format("{}: data of no tensor at its end", what));
  }
}

std::string header_text(std::span<const TensorView> tensors,
                        const std::map<std::string, std::string>& metadata) {
  std::string text = "{";
  auto add = [&text](std::string_view name, const std::string& value) {
    if (text.size() > 1) text += ',';
    text += dump_json(name) + ':' + value;
  };
  if (!metadata.empty()) add(kMetadata, dump_json(metadata));
  std::uint64_t offset = 0;
  for (const TensorView& tensor : tensors) {
    std::uint64_t end = offset + byte_size(tensor.dtype, tensor.shape).value();
    add(tensor.name,
        fmt::format(R"({{"dtype":"{}","shape":[{}],"data_offsets":[{},{}]}})",
                    name_of(tensor.dtype), fmt::join(tensor.shape, ","), offset,
                    end));
    offset = end;
  }
  text += '}';
  std::size_t start = kLengthBytes + text.size();
  text.append((kAlignment - start % kAlignment) % kAlignment, ' ');
  return text;
}

std::vector<std::uint64_t> shape_of(const TensorSpec& tensor) {
  return {tensor.shape.begin(), tensor.shape.end()};
}

// As they are to be written: every NaN the same.
bool are_canonical(std::span<const float> values) {
  return std::all_of(values.begin(), values.end(),
                     [](float x) { return canonical_bits(x) == bits(x); });
}

ByteParts tensor_parts(std::span<const TensorSpec> tensors,
                       std::span<const float> values,
                       const std::map<std::string, std::string>& metadata) {
  std::vector<TensorView> heads;
  std::uint64_t elements = 0;
  for (const TensorSpec& tensor : tensors) {
    heads.push_back({tensor.name, DType::f32, shape_of(tensor), {}});
    elements += tensor.size();
  }
  check(elements == values.size(), "a value for every element");
  ByteParts parts;
  parts.add(head_of(heads, metadata));
  const ByteView data{reinterpret_cast<const std::uint8_t*>(values.data()),
                      values.size_bytes()};
  if (are_canonical(values)) {
    parts.add_view(data);
    return parts;
  }
  Bytes canonical(data.size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    const std::uint32_t word = canonical_bits(values[i]);
    std::memcpy(canonical.data() + i * sizeof(word), &word, sizeof(word));
  }
  parts.add(std::move(canonical));
  return parts;
}

// The values of all tensors of the model, which must be there in declared order
// and nothing else: one after another, since they cover the data.
ByteView parameter_data(const ModelSpec& model, ByteView bytes,
                        const std::string& what) {
  const Safetensors file(bytes, what);
  const std::vector<TensorSpec> specs = parameters_of(model);
  if (file.tensors().size() != specs.size()) {
    throw Error(ErrorKind::corrupt,
                fmt::format("{}: expected {} tensors, found {}", what,
                            specs.size(), file.tensors().size()));
  }
  for (std::size_t i = 0; i < specs.size(); ++i) {
    const TensorView& view =
        file.get(specs[i].name, DType::f32, shape_of(specs[i]));
    if (&view != &file.tensors()[i]) {
      throw Error(ErrorKind::corrupt,
                  fmt::format("{}: tensor \"{}\" is not in its place", what,
                              specs[i].name));
    }
  }
  return bytes.last(parameter_count(model) * sizeof(float));
}

}  // namespace

std::size_t size_of(DType dtype) {
  return row_of(dtype).size;
}

std::string_view name_of(DType dtype) {
  return row_of(dtype).name;
}

Safetensors::Safetensors(ByteView bytes, std::string what)
    : what_(std::move(what)) {
  ByteReader reader(bytes, what_);
  auto length = reader.get<std::uint64_t>();
  if (length > kLimits.bytes) {
    throw Error(ErrorKind::corrupt,
                fmt::format("{}: header of {} bytes, allowed are {}", what_,
                            length, kLimits.bytes));
  }
  std::string_view text = as_text(reader.take(length));
  ByteView data = reader.take(reader.left());
  nlohmann::json json = parse_json(text, kLimits, what_);
  if (!json.is_object()) {
    throw Error(ErrorKind::corrupt, what_ + ": the header is no JSON object");
  }
  for (const auto& [name, value] : json.items()) {
    if (name == kMetadata) {
      metadata_ = read_metadata(value, what_);
    } else {
      tensors_.push_back(EntryReader(what_, name, value).read(name, data));
    }
  }
  sort_and_check_cover(tensors_, data, what_);
}

const TensorView& Safetensors::get(
    std::string_view name, DType dtype,
    const std::vector<std::uint64_t>& shape) const {
  auto found = std::find_if(
      tensors_.begin(), tensors_.end(),
      [name](const TensorView& tensor) { return tensor.name == name; });
  if (found == tensors_.end()) {
    throw Error(ErrorKind::corrupt,
                fmt::format("{}: tensor \"{}\" is missing", what_, name));
  }
  if (found->dtype != dtype || (!shape.empty() && found->shape != shape)) {
    throw Error(
        ErrorKind::corrupt,
        fmt::format(
            "{}: tensor \"{}\": expected {} [{}], found {} [{}]", what_, name,
            name_of(dtype),
            shape.empty() ? "..." : fmt::to_string(fmt::join(shape, ",")),
            name_of(found->dtype), fmt::join(found->shape, ",")));
  }
  return *found;
}

ByteParts safetensors_parts(
    std::span<const TensorView> tensors,
    const std::map<std::string, std::string>& metadata) {
  ByteParts parts;
  parts.add(head_of(tensors, metadata));
  for (const TensorView& tensor : tensors) {
    check(byte_size(tensor.dtype, tensor.shape) == tensor.data.size(),
          "a tensor's data have the size of its shape");
    parts.add_view(tensor.data);
  }
  return parts;
}

Bytes write_safetensors(std::span<const TensorView> tensors,
                        const std::map<std::string, std::string>& metadata) {
  return safetensors_parts(tensors, metadata).joined();
}

Bytes head_of(std::span<const TensorView> tensors,
              const std::map<std::string, std::string>& metadata) {
  const std::string header = header_text(tensors, metadata);
  ByteWriter head;
  head.put(static_cast<std::uint64_t>(header.size()));
  head.put_bytes(as_bytes(header));
  return head.take();
}

std::uint64_t data_bytes(std::span<const TensorView> tensors) {
  std::uint64_t sum = 0;
  for (const TensorView& tensor : tensors) {
    sum += byte_size(tensor.dtype, tensor.shape).value();
  }
  return sum;
}

Bytes write_tensors(std::span<const TensorSpec> tensors,
                    std::span<const float> values,
                    const std::map<std::string, std::string>& metadata) {
  return tensor_parts(tensors, values, metadata).joined();
}

Bytes write_parameters(const ModelSpec& model, std::span<const float> values,
                       const std::map<std::string, std::string>& metadata) {
  return write_tensors(parameters_of(model), values, metadata);
}

ByteParts parameter_parts(const ModelSpec& model,
                          std::span<const float> values) {
  return tensor_parts(parameters_of(model), values, {});
}

std::vector<float> read_parameters(const ModelSpec& model, ByteView bytes,
                                   const std::string& what) {
  const ByteView data = parameter_data(model, bytes, what);
  std::vector<float> values(parameter_count(model));
  std::memcpy(values.data(), data.data(), data.size());
  return values;
}

ParameterValues map_parameters(const ModelSpec& model, MappedFile file,
                               const std::string& what) {
  const ByteView data = parameter_data(model, file.bytes(), what);
  return {std::move(file), data};
}

}  // namespace quorate

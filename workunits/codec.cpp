// A codec has K levels, evenly spaced from -1 to 1 times the block's scale: an
// odd K has one at zero, an even K has none. Codes count them from below, 0 to
// K - 1, and are the digits of a byte, the first value's digit the lowest.
//
// Considered: one scale over the values of several tensors. It would spare the
// short blocks at their ends, but a bias beside a weight matrix, or a norm
// beside a convolution, changes by other orders of magnitude and would drown
// in its neighbour's scale.
#include "workunits/codec.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "base/arithmetic.h"
#include "base/error.h"

namespace quorate {
namespace {

struct Row {
  std::string_view name;
  std::uint32_t levels = 0;
  std::uint32_t base = 0;  // of the digits of a byte
  std::uint32_t digits = 0;
};
constexpr std::array kRows = {
    Row{"fp32"},          Row{"int8", 255, 256, 1}, Row{"int4", 15, 16, 2},
    Row{"int2", 4, 4, 4}, Row{"ternary", 3, 3, 5},  Row{"sign", 2, 2, 8},
};

const Row& row_of(Codec codec) {
  return kRows.at(static_cast<std::size_t>(codec));
}

const Row& row_of_blocks(Codec codec) {
  const Row& row = row_of(codec);
  check(row.levels != 0, "a codec of blocks");
  return row;
}

// In [-1, 1]; what is not finite is at an end.
float share(float value, float greatest) {
  const float y = value / greatest;
  return y < 1.0F ? (y > -1.0F ? y : -1.0F) : 1.0F;
}

float greatest_magnitude(std::span<const float> values) {
  float greatest = 0.0F;
  for (float value : values) {
    const float magnitude = std::fabs(value);
    if (magnitude > greatest) greatest = magnitude;
  }
  return std::min(greatest, std::numeric_limits<float>::max());
}

// Of shares instead of values, which could overflow.
float mean_magnitude(std::span<const float> values, float greatest) {
  std::array<float, kCodecBlock> shares{};
  std::transform(
      values.begin(), values.end(), shares.begin(),
      [&](float value) { return std::fabs(share(value, greatest)); });
  const float sum = sum_r1(std::span(shares).first(values.size()));
  return greatest * (sum / static_cast<float>(values.size()));
}

// One of the two levels around the value, so that their mean is the value.
std::uint32_t rounded(const Row& row, float value, float greatest,
                      std::uint32_t word) {
  const float half = static_cast<float>(row.levels - 1) / 2.0F;
  const float place = share(value, greatest) * half + half;
  const float below = std::floor(place);
  const bool is_up = uniform01(word) < place - below;
  return static_cast<std::uint32_t>(below) + (is_up ? 1 : 0);
}

// A zero has no sign: always the same one would let parameters drift that no
// sample moves.
std::uint32_t sign_of(float value, std::uint32_t word) {
  return value == 0.0F ? word >> 31 : (value > 0.0F ? 1 : 0);
}

float level(const Row& row, std::uint32_t code) {
  const auto top = static_cast<std::int32_t>(row.levels) - 1;
  return static_cast<float>(2 * static_cast<std::int32_t>(code) - top) /
         static_cast<float>(top);
}

}  // namespace

std::string_view name_of(Codec codec) {
  return row_of(codec).name;
}

std::optional<Codec> codec_called(std::string_view name) {
  for (std::size_t i = 0; i < kRows.size(); ++i) {
    if (kRows[i].name == name) return static_cast<Codec>(i);
  }
  return std::nullopt;
}

std::vector<std::string_view> codec_names() {
  std::vector<std::string_view> names;
  for (const Row& row : kRows) names.push_back(row.name);
  return names;
}

std::size_t code_bytes(Codec codec, std::size_t values) {
  const std::size_t digits = row_of_blocks(codec).digits;
  return (values + digits - 1) / digits;
}

float encode_block(Codec codec, std::span<const float> values,
                   RandomStream& random, std::span<std::uint8_t> codes) {
  const Row& row = row_of_blocks(codec);
  check(!values.empty() && values.size() <= kCodecBlock &&
            codes.size() == code_bytes(codec, values.size()),
        "a block and its codes");
  const float greatest = greatest_magnitude(values);
  float scale = greatest;
  if (codec == Codec::sign && greatest > 0.0F) {
    scale = mean_magnitude(values, greatest);
  }
  std::fill(codes.begin(), codes.end(), std::uint8_t{0});
  std::uint32_t place = 1;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const std::uint32_t word = random.next();
    if (scale == 0.0F) continue;
    const std::uint32_t code = codec == Codec::sign
                                   ? sign_of(values[i], word)
                                   : rounded(row, values[i], greatest, word);
    if (i % row.digits == 0) place = 1;
    std::uint8_t& byte = codes[i / row.digits];
    byte = static_cast<std::uint8_t>(byte + code * place);
    place *= row.base;
  }
  return scale;
}

std::string_view decode_block(Codec codec, float scale, ByteView codes,
                              std::span<float> values) {
  const Row& row = row_of_blocks(codec);
  check(codes.size() == code_bytes(codec, values.size()),
        "a block and its codes");
  if (!std::isfinite(scale) || std::signbit(scale)) {
    return "a scale that is negative or not finite";
  }
  if (scale == 0.0F) {
    std::fill(values.begin(), values.end(), 0.0F);
    const bool is_empty =
        std::all_of(codes.begin(), codes.end(),
                    [](std::uint8_t byte) { return byte == 0; });
    return is_empty ? "" : "codes without a scale";
  }
  bool is_reached = false;
  std::uint32_t rest = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (i % row.digits == 0) {
      if (rest != 0) return "a code beyond the last level";
      rest = codes[i / row.digits];
    }
    const std::uint32_t code = rest % row.base;
    rest /= row.base;
    if (code >= row.levels) return "a code beyond the last level";
    is_reached |= code == 0 || code == row.levels - 1;
    values[i] = level(row, code) * scale;
  }
  if (rest != 0) return "codes behind the last value";
  return is_reached ? "" : "a scale that no value reaches";
}

}  // namespace quorate

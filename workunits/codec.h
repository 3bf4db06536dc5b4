// The codecs of updates: how blocks of values become small codes and come back.
// Pure functions without state on the host, made of single binary32
// operations, so that replicas write the same bytes (docs/numerics.md, section
// 14). The file around the blocks: workunits/objects/update.h.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "base/random.h"

namespace quorate {

enum class Codec { fp32, int8, int4, int2, ternary, sign };

std::string_view name_of(Codec codec);
// Nullopt if no codec is called so.
std::optional<Codec> codec_called(std::string_view name);
std::vector<std::string_view> codec_names();

// Values that share a scale, at most. Measured on our tasks: blocks of 256
// cost int8 and int4 nothing in accuracy, at 1/8 bit a value.
inline constexpr std::size_t kCodecBlock = 256;

// The functions below are of blocks, which fp32 has none of.

// Bytes of the codes of so many values; every block begins a new byte.
std::size_t code_bytes(Codec codec, std::size_t values);

// Writes the codes of a block of 1 to kCodecBlock values, code_bytes() of them,
// and returns its scale, which is finite and not negative. Draws a word of
// `random` per value. What is not finite counts as the greatest finite value.
// To be called in the default floating-point mode.
float encode_block(Codec codec, std::span<const float> values,
                   RandomStream& random, std::span<std::uint8_t> codes);

// The way back. Returns what is wrong with codes that encode_block() never
// gives, in words; empty: nothing, and `values` are all finite.
std::string_view decode_block(Codec codec, float scale, ByteView codes,
                              std::span<float> values);

}  // namespace quorate

// The built-in data set: handwriting-like digits, drawn from strokes. Every
// machine draws the same bits: Philox, + - * / sqrt and integers only.
#pragma once

#include <cstdint>
#include <span>

#include "server/datasets/dataset.h"

namespace quorate {

inline constexpr std::uint32_t kGlyphSide = 28;
inline constexpr std::uint32_t kGlyphPixels = kGlyphSide * kGlyphSide;
inline constexpr std::uint32_t kGlyphClasses = 10;

// Draws sample `index` of the endless set under `seed` into `pixels`
// (kGlyphPixels of them, row by row, ink is bright); returns its digit, which
// is index mod 10. Depends on (seed, index) only.
std::uint8_t draw_glyph(std::uint64_t seed, std::uint32_t index,
                        std::span<std::uint8_t> pixels);

// Samples [0, train) for training and [train, train + test) for the test part
// (none if test is 0).
DatasetSource glyphs_source(std::uint32_t train, std::uint32_t test,
                            std::uint64_t seed);

}  // namespace quorate

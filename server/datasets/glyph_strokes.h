// How each digit is written: the strokes of a pen, in several hands. Data for
// server/datasets/glyphs.
#pragma once

#include <cstdint>
#include <vector>

namespace quorate {

// A point that the pen passes, in hundredths of the digit's box: x to the
// right, y down. The path is smooth there unless it is a corner.
struct PenPoint {
  std::int8_t x = 0;
  std::int8_t y = 0;
  bool is_corner = false;
};

using PenStroke = std::vector<PenPoint>;  // without lifting the pen
using GlyphStyle = std::vector<PenStroke>;

// The ways of writing `digit` (0 to 9); at least two.
const std::vector<GlyphStyle>& glyph_styles(std::uint32_t digit);

}  // namespace quorate

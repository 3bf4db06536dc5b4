#include "server/datasets/glyph_strokes.h"

#include <array>
#include <charconv>
#include <string_view>

#include "base/error.h"

namespace quorate {
namespace {

// Of each digit, its styles: points "x,y" from one to the next, * after a
// corner, / where the pen is lifted.
constexpr std::array<std::array<std::string_view, 4>, 10> kStyles = {{
    {{"52,2 22,18 12,50 22,84 50,98 78,82 88,50 78,16 48,2",
      "64,6 34,12 16,48 26,86 50,98 76,80 84,44 70,12 46,6",
      "46,0 24,24 22,60 36,96 58,96 74,62 72,24 52,0"}},
    {{"52,0 50,100", "28,24 56,2* 54,100", "30,24 54,2* 54,97 / 24,98 82,97",
      "66,0 38,100"}},
    {{"14,26 28,6 56,1 80,16 78,40 52,68 12,98* 90,97",
      "16,24 40,2 74,8 80,34 56,68 28,95 13,86 28,76 56,92 92,92",
      "20,12 52,0 82,22 62,58 18,96* 54,88 84,100"}},
    {{"15,12 45,0 80,16 70,40 40,48* 74,56 86,78 56,99 12,88",
      "14,4 82,4* 44,42* 78,54 86,78 56,99 14,90",
      "20,8 52,2 74,20 58,42 46,48 62,50 80,70 66,94 34,98 16,84"}},
    {{"26,2 14,58* 90,56 / 68,6 66,100", "66,100 66,2* 10,66* 92,66",
      "20,4 16,40 34,56 74,46 / 80,2 70,52 64,100"}},
    {{"84,3 26,3* 20,46* 54,38 84,62 70,92 40,100 12,88",
      "28,5 22,48* 58,38 84,66 60,98 14,92 / 28,4 88,5",
      "76,2 36,6 26,28 50,44 74,66 60,96 20,94"}},
    {{"74,4 36,22 14,62 26,93 56,99 82,80 68,56 40,56 18,76",
      "60,0 28,42 18,80 46,100 78,84 72,60 44,56 20,78",
      "44,0 26,50 30,92 60,98 76,76 56,60 28,80"}},
    {{"12,4 86,4* 42,100", "12,5 84,4* 40,100 / 30,52 78,50",
      "12,18 14,6* 50,8 88,4* 56,48 46,100"}},
    {{"76,16 46,1 22,20 42,42 72,62 80,84 48,100 18,84 30,60 64,40 78,16",
      "50,2 26,24 50,47 74,24 50,2 / 50,48 18,74 50,100 82,74 50,48",
      "40,46 26,20 52,0 76,22 50,46 24,78 50,100 78,78 40,46"}},
    {{"80,24 54,2 24,12 18,36 42,52 70,42 82,20 76,60 62,100",
      "78,22 48,2 20,26 44,50 78,22* 74,100",
      "78,22 46,2 20,26 44,48 78,22 82,64 60,98 22,90"}},
}};

std::int8_t take_number(std::string_view& text) {
  std::int8_t value = 0;
  auto [end, error] = std::from_chars(text.begin(), text.end(), value);
  check(error == std::errc(), "glyph strokes are numbers");
  text.remove_prefix(static_cast<std::size_t>(end - text.begin()));
  return value;
}

bool take(std::string_view& text, char wanted) {
  if (text.empty() || text.front() != wanted) return false;
  text.remove_prefix(1);
  return true;
}

GlyphStyle style_of(std::string_view text) {
  GlyphStyle style(1);
  while (!text.empty()) {
    PenPoint point{.x = take_number(text)};
    check(take(text, ','), "a point of a glyph is x,y");
    point.y = take_number(text);
    point.is_corner = take(text, '*');
    style.back().push_back(point);
    while (take(text, ' ')) {
    }
    if (take(text, '/')) style.emplace_back();
    while (take(text, ' ')) {
    }
  }
  return style;
}

std::array<std::vector<GlyphStyle>, 10> read_styles() {
  std::array<std::vector<GlyphStyle>, 10> digits;
  for (std::size_t digit = 0; digit < digits.size(); ++digit) {
    for (std::string_view text : kStyles[digit]) {
      if (!text.empty()) digits[digit].push_back(style_of(text));
    }
  }
  return digits;
}

}  // namespace

const std::vector<GlyphStyle>& glyph_styles(std::uint32_t digit) {
  static const std::array<std::vector<GlyphStyle>, 10> digits = read_styles();
  check(digit < digits.size(), "a glyph is a digit");
  return digits[digit];
}

}  // namespace quorate

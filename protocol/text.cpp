#include "protocol/text.h"

#include <algorithm>
#include <cstdint>
#include <iterator>

#include "base/text.h"

namespace quorate::protocol {
namespace {

struct CodeRange {
  std::uint32_t first, last;
};

// Drawn as nothing, or changing how their neighbours are drawn.
constexpr CodeRange kInvisible[] = {
    {0x00ad, 0x00ad},    // soft hyphen
    {0x034f, 0x034f},    // grapheme joiner
    {0x061c, 0x061c},    // Arabic letter mark
    {0x115f, 0x1160},    // Hangul fillers
    {0x17b4, 0x17b5},    // Khmer inherent vowels
    {0x180b, 0x180f},    // Mongolian selectors and vowel separator
    {0x200b, 0x200f},    // zero width, direction marks
    {0x2028, 0x202e},    // line separators, embeddings, overrides
    {0x2060, 0x206f},    // word joiner, isolates, shaping
    {0x3164, 0x3164},    // Hangul filler
    {0xfeff, 0xfeff},    // byte order mark
    {0xffa0, 0xffa0},    // Hangul filler
    {0xfff0, 0xfffb},    // interlinear annotation
    {0x1bca0, 0x1bca3},  // shorthand format
    {0x1d173, 0x1d17a},  // musical format
    {0xe0000, 0xe0fff},  // tags
};

bool is_invisible(std::uint32_t code) {
  return std::any_of(
      std::begin(kInvisible), std::end(kInvisible),
      [code](CodeRange r) { return code >= r.first && code <= r.last; });
}

// Bytes of the plain character at the start of `text`; 0 if there is none.
std::size_t plain_prefix(std::string_view text) {
  if (text[0] >= ' ' && text[0] <= '~') return 1;  // most of what there is
  std::size_t length = utf8_length(text);
  if (length == 0) return 0;
  std::uint32_t code = code_at_start(text, length);
  bool is_control = code < 0x20 || (code >= 0x7f && code <= 0x9f);
  return is_control || is_invisible(code) ? 0 : length;
}

}  // namespace

bool is_plain_text(std::string_view text) {
  while (!text.empty()) {
    std::size_t length = plain_prefix(text);
    if (length == 0) return false;
    text.remove_prefix(length);
  }
  return true;
}

std::string plain_text(std::string_view text, std::size_t most) {
  std::string out;
  while (!text.empty()) {
    std::size_t length = plain_prefix(text);
    std::size_t taken = length == 0 ? 1 : length;
    if (out.size() + taken > most) break;
    out.append(length == 0 ? std::string_view("?") : text.substr(0, length));
    text.remove_prefix(taken);
  }
  return out;
}

}  // namespace quorate::protocol

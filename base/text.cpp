#include "base/text.h"

namespace quorate {

std::size_t utf8_length(std::string_view text) {
  auto at = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  unsigned char lead = at(0);
  std::size_t length = lead < 0x80                   ? 1
                       : lead >= 0xc2 && lead < 0xe0 ? 2
                       : lead >= 0xe0 && lead < 0xf0 ? 3
                       : lead >= 0xf0 && lead < 0xf5 ? 4
                                                     : 0;
  if (length < 2) return length;
  if (text.size() < length) return 0;
  // The range of the second byte rules out what is none.
  unsigned char low = lead == 0xe0 ? 0xa0 : lead == 0xf0 ? 0x90 : 0x80;
  unsigned char high = lead == 0xed ? 0x9f : lead == 0xf4 ? 0x8f : 0xbf;
  if (at(1) < low || at(1) > high) return 0;
  for (std::size_t i = 2; i < length; ++i) {
    if (at(i) < 0x80 || at(i) > 0xbf) return 0;
  }
  return length;
}

std::uint32_t code_at_start(std::string_view text, std::size_t length) {
  auto at = [&](std::size_t i) {
    return std::uint32_t{static_cast<unsigned char>(text[i])};
  };
  std::uint32_t code = length == 1 ? at(0) : at(0) & (0x7fU >> length);
  for (std::size_t i = 1; i < length; ++i) code = code << 6 | (at(i) & 0x3fU);
  return code;
}

namespace {

// DEL, C1, line and paragraph separators, embeddings, overrides, isolates.
bool drives_a_terminal(std::uint32_t code) {
  return (code >= 0x7f && code <= 0x9f) || (code >= 0x2028 && code <= 0x202e) ||
         (code >= 0x2066 && code <= 0x2069);
}

// kept: control characters that stay.
std::string shown(std::string_view text, std::string_view kept) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const auto first = static_cast<unsigned char>(text[0]);
    const std::size_t length = utf8_length(text);
    const bool is_control =
        first < ' ' && kept.find(text[0]) == std::string_view::npos;
    if (length == 0 || is_control) {
      out += fmt::format("\\x{:02x}", first);
    } else if (const std::uint32_t code = code_at_start(text, length);
               drives_a_terminal(code)) {
      out += fmt::format("\\u{:04x}", code);
    } else {
      out += text.substr(0, length);
    }
    text.remove_prefix(length == 0 ? 1 : length);
  }
  return out;
}

}  // namespace

std::string shown_text(std::string_view text) {
  return shown(text, "");
}

std::string shown_lines(std::string_view text) {
  return shown(text, "\n\t");
}

}  // namespace quorate

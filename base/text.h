// The characters of a text, and what a terminal or a log may be given of texts
// that others wrote: servers, volunteers, model files. protocol/text refuses
// such texts at the border; this is for all that is printed, wherever it came
// from.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>

namespace quorate {

// The bytes of the UTF-8 sequence that `text`, which is not empty, begins with;
// 0 if it begins with none: overlong forms, surrogates and code points over
// 10ffff are none (RFC 3629, section 4).
std::size_t utf8_length(std::string_view text);

// The code point that the first `length` bytes of `text` are, as utf8_length
// gave it (not 0).
std::uint32_t code_at_start(std::string_view text, std::size_t length);

// `text` with everything that could drive a terminal or turn a line round made
// visible: control characters (C0, DEL, C1), bidirectional overrides and
// isolates (U+202A to U+202E, U+2066 to U+2069), line and paragraph separators,
// and bytes that are no UTF-8. Other UTF-8 text stays as it is.
// C0 and stray bytes become \xNN. The others become \uNNNN: JSON, which may
// hold them raw in its strings, still means the same afterwards.
// Doing it twice changes nothing.
std::string shown_text(std::string_view text);
// The same, but newlines and tabs stay: for texts of several lines, ours.
std::string shown_lines(std::string_view text);

// Every program prints through this: nothing that its arguments hold reaches
// the terminal but through shown_lines().
template <class... Arguments>
void say(std::FILE* out, fmt::format_string<Arguments...> format,
         Arguments&&... arguments) {
  const std::string text =
      shown_lines(fmt::format(format, std::forward<Arguments>(arguments)...));
  std::fwrite(text.data(), 1, text.size(), out);
}
template <class... Arguments>
void say(fmt::format_string<Arguments...> format, Arguments&&... arguments) {
  say(stdout, format, std::forward<Arguments>(arguments)...);
}

}  // namespace quorate

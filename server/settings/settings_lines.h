// The lines of a settings file, before a TOML reader sees them.
#pragma once

#include <string>
#include <string_view>

namespace quorate {

// Throws usage, naming `place` and line, unless every line is empty, a comment,
// or NAME = VALUE and perhaps a comment. (VALUE: a word, text in quotes, or a
// list of texts in quotes, on this line.) That is all of TOML that settings
// need, and toml++ 3.3 runs into undefined behaviour at some of the rest when
// it is malformed.
void expect_plain_lines(std::string_view text, const std::string& place);

}  // namespace quorate

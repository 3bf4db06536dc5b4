// The lines of a settings file, before a TOML reader sees them.
#pragma once

#include <string>
#include <string_view>

namespace quorate {

// Throws usage, naming `place` and line, unless every line is empty, a comment,
// or NAME = VALUE (VALUE: a word, or text in quotes on this line) and perhaps a
// comment. That is all of TOML that settings need, and toml++ 3.3 runs into
// undefined behaviour at some of the rest when it is malformed.
void expect_plain_lines(std::string_view text, const std::string& place);

}  // namespace quorate

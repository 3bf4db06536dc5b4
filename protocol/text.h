// Texts in messages: what people wrote (names) or will read (reasons). They
// end up in logs, terminals and pages, so they are valid UTF-8 without control
// or invisible characters, and short.
#pragma once

#include <string>
#include <string_view>

namespace quorate::protocol {

// True if `text` is valid UTF-8 without control characters (C0, DEL, C1) and
// without what would make two names look the same or turn a line round: zero
// width, direction, other format characters and fillers (Unicode's general
// category Cf, but for visible signs, and its Default_Ignorable_Code_Point, but
// for the variation selectors that emoji need).
bool is_plain_text(std::string_view text);

// `text` made plain and cut to at most `most` bytes: whatever is not plain
// becomes '?', one for each byte. A plain text that is short enough stays as
// it is, so doing it twice changes nothing.
std::string plain_text(std::string_view text, std::size_t most);

}  // namespace quorate::protocol

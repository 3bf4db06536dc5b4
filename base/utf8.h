// Where the characters of a text end.
#pragma once

#include <cstddef>
#include <string_view>

namespace quorate {

// The bytes of the UTF-8 sequence that `text`, which is not empty, begins with;
// 0 if it begins with none: overlong forms, surrogates and code points over
// 10ffff are none (RFC 3629, section 4).
std::size_t utf8_length(std::string_view text);

}  // namespace quorate

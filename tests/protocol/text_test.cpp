#include "protocol/text.h"

#include <doctest/doctest.h>

namespace quorate::protocol {

TEST_CASE("plain text is UTF-8 without control characters") {
  CHECK(is_plain_text(""));
  CHECK(is_plain_text("Zoë's attic, 日本, 🧮"));
  CHECK_FALSE(is_plain_text("tab\there"));
  CHECK_FALSE(is_plain_text("\x1b[31m"));
  CHECK_FALSE(is_plain_text("\x7f"));
  CHECK_FALSE(is_plain_text("\xc2\x85"));          // a C1 control
  CHECK_FALSE(is_plain_text("\xc0\xaf"));          // overlong
  CHECK_FALSE(is_plain_text("\xe0\x80\xaf"));      // overlong
  CHECK_FALSE(is_plain_text("\xed\xa0\x80"));      // a surrogate
  CHECK_FALSE(is_plain_text("\xf4\x90\x80\x80"));  // beyond U+10FFFF
  CHECK_FALSE(is_plain_text("\xe6\x97"));          // cut short
  CHECK_FALSE(is_plain_text(std::string_view("\0", 1)));
}

// They make two names look the same, or turn the rest of a line round.
TEST_CASE("plain text has no invisible characters") {
  for (const char* text :
       {"Ann\u200b", "\u200dAnn", "\u202eAnn", "Ann\u2066", "\ufeffAnn",
        "An\u00adn", "\u2028", "\u2060", "\u061c", "\u115f", "\u3164",
        "\U000e0041", "\u180e", "\ufff9"}) {
    CAPTURE(text);
    CHECK_FALSE(is_plain_text(text));
  }
  for (const char* text : {"\u2010 \u2027 \u202f", "\u00ac\u00ae",
                           "\u2764\ufe0f", "\u05d0\u0623", "\u200a"}) {
    CAPTURE(text);
    CHECK(is_plain_text(text));
  }
  CHECK(plain_text("a\u202eb", 10) == "a???b");
}

TEST_CASE("what is not plain becomes question marks") {
  CHECK(plain_text("a\nb\xff", 10) == "a?b?");
  CHECK(plain_text("Zoë", 10) == "Zoë");
}

TEST_CASE("a text is never cut within a character") {
  CHECK(plain_text("Zoë", 4) == "Zoë");
  CHECK(plain_text("Zoë", 3) == "Zo");
  CHECK(plain_text("🧮", 3) == "");
}

TEST_CASE("making plain twice changes nothing") {
  std::string text = "a\x80\xe6\x97\x0a 日本 \xf0\x9f";
  for (std::size_t most = 0; most < 24; ++most) {
    std::string once = plain_text(text, most);
    CHECK(is_plain_text(once));
    CHECK(plain_text(once, most) == once);
  }
}

}  // namespace quorate::protocol

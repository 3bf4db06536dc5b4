#include "base/text.h"

#include <doctest/doctest.h>

namespace quorate {

TEST_CASE("a character's bytes are counted") {
  CHECK(utf8_length("a\xff") == 1);
  CHECK(utf8_length(std::string_view("\0", 1)) == 1);
  CHECK(utf8_length("\x7f") == 1);
  CHECK(utf8_length("\xc2\x80") == 2);
  CHECK(utf8_length("\xdf\xbf") == 2);
  CHECK(utf8_length("\xe0\xa0\x80") == 3);
  CHECK(utf8_length("\xed\x9f\xbf") == 3);
  CHECK(utf8_length("\xee\x80\x80") == 3);
  CHECK(utf8_length("\xef\xbb\xbf") == 3);
  CHECK(utf8_length("\xf0\x90\x80\x80") == 4);
  CHECK(utf8_length("\xf4\x8f\xbf\xbf z") == 4);
}

TEST_CASE("what is no character has no length") {
  for (const char* bytes : {
           "\x80", "\xbf", "\xc0\xaf", "\xc1\xbf",  // overlong
           "\xe0\x9f\xbf", "\xf0\x8f\xbf\xbf",      // overlong
           "\xed\xa0\x80", "\xed\xbf\xbf",          // surrogates
           "\xf4\x90\x80\x80", "\xf5\x80\x80\x80",  // beyond U+10FFFF
           "\xfe", "\xff",                          // never
           "\xc2", "\xe6\x97", "\xf0\x9f\xa7",      // cut short
           "\xc2 ", "\xe6\x97z", "\xf0\x9f\xa7z",   // another begins
       }) {
    CAPTURE(bytes);
    CHECK(utf8_length(bytes) == 0);
  }
}

TEST_CASE("what could drive a terminal is made visible") {
  struct Row {
    const char* text;
    const char* shown;
  };
  const Row table[] = {
      {"", ""},
      {"plain", "plain"},
      {"Zo\u00eb \u6f22\u5b57 \U0001f600", "Zo\u00eb \u6f22\u5b57 \U0001f600"},
      {"\x1b[31mred", "\\x1b[31mred"},
      {"a\rb\bc", "a\\x0db\\x08c"},
      {"\x7f", "\\u007f"},
      {"\xc2\x9b"
       "31m",
       "\\u009b31m"},
      {"\xe2\x80\xa8\xe2\x80\xa9", "\\u2028\\u2029"},
      {"\xe2\x80\xaa.\xe2\x80\xae", "\\u202a.\\u202e"},
      {"\xe2\x81\xa6.\xe2\x81\xa9", "\\u2066.\\u2069"},
      {"\xe2\x80\xa7\xe2\x80\xaf", "\xe2\x80\xa7\xe2\x80\xaf"},  // neighbours
      {"\x9b\xff", "\\x9b\\xff"},                                // no UTF-8
      {"\xe2\x80", "\\xe2\\x80"},
  };
  for (const Row& row : table) {
    CAPTURE(row.shown);
    CHECK(shown_text(row.text) == row.shown);
    CHECK(shown_lines(row.text) == row.shown);
    CHECK(shown_text(row.shown) == row.shown);
  }
}

TEST_CASE("one line stays one, several stay several") {
  CHECK(shown_text("a\n\tb") == "a\\x0a\\x09b");
  CHECK(shown_lines("a\n\tb") == "a\n\tb");
  CHECK(shown_text(std::string_view("\0", 1)) == "\\x00");
}

TEST_CASE("what is said is shown, JSON remains JSON") {
  std::FILE* file = std::tmpfile();
  REQUIRE(file != nullptr);
  say(file, "{} {}\n", "\x1b]0;title\x07",
      R"({"a":")"
      "\x7f\xc2\x9b"
      R"("})");
  std::rewind(file);
  char read[100] = {};
  const std::size_t bytes = std::fread(read, 1, sizeof read, file);
  std::fclose(file);
  CHECK(std::string(read, bytes) ==
        "\\x1b]0;title\\x07 {\"a\":\"\\u007f\\u009b\"}\n");
}

}  // namespace quorate

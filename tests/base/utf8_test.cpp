#include <doctest/doctest.h>

#include "base/text.h"

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

}  // namespace quorate

# Run by quorate_embed(): writes ${OUT} from ${PAIRS}, "NAME=FILE|NAME=FILE".
string(REPLACE "|" ";" pairs "${PAIRS}")
set(text "#pragma once\n// Data, not code: no compiler need judge its length.\n#pragma GCC system_header\n#include <string_view>\nnamespace quorate::embedded {\n")
foreach(pair ${pairs})
  string(REGEX MATCH "^([^=]*)=(.*)$" matched ${pair})
  set(name ${CMAKE_MATCH_1})
  file(READ ${CMAKE_MATCH_2} hex HEX)
  string(LENGTH "${hex}" digits)
  math(EXPR size "${digits} / 2")
  # A string literal: compilers read one much faster than a list of numbers.
  string(REGEX REPLACE "(................................................................)"
         "\"\\1\"\n" lines "${hex}")
  string(REGEX REPLACE "\n([0-9a-f]+)$" "\n\"\\1\"\n" lines "${lines}")
  string(REGEX REPLACE "^([0-9a-f]+)$" "\"\\1\"\n" lines "${lines}")
  string(REGEX REPLACE "([0-9a-f][0-9a-f])" "\\\\x\\1" lines "${lines}")
  string(APPEND text
    "inline constexpr std::string_view ${name}{\n${lines}, ${size}};\n")
endforeach()
string(APPEND text "}  // namespace quorate::embedded\n")
file(WRITE ${OUT} "${text}")

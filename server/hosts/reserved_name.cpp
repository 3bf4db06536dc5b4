#include "server/hosts/reserved_name.h"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <string>

#include "base/text.h"

namespace quorate {
namespace {

struct Alike {
  char32_t code;
  char letter;
};

// What other scripts have that is drawn like a letter of the reserved names:
// Greek, Cyrillic, Armenian, and Latin's small capitals.
constexpr Alike kAlike[] = {
    {U'0', 'o'}, {U'3', 'e'}, {U'5', 's'}, {U'Η', 'h'}, {U'Н', 'h'},
    {U'һ', 'h'}, {U'Һ', 'h'}, {U'հ', 'h'}, {U'ʜ', 'h'}, {U'Ο', 'o'},
    {U'ο', 'o'}, {U'О', 'o'}, {U'о', 'o'}, {U'Օ', 'o'}, {U'օ', 'o'},
    {U'ᴏ', 'o'}, {U'υ', 'u'}, {U'ս', 'u'}, {U'ᴜ', 'u'}, {U'Ѕ', 's'},
    {U'ѕ', 's'}, {U'Տ', 's'}, {U'ꜱ', 's'}, {U'Ε', 'e'}, {U'Е', 'e'},
    {U'е', 'e'}, {U'ᴇ', 'e'}, {U'Ԝ', 'w'}, {U'ԝ', 'w'}, {U'ѡ', 'w'},
    {U'ᴡ', 'w'}, {U'ʀ', 'r'}, {U'ᴦ', 'r'}, {U'г', 'r'}, {U'Κ', 'k'},
    {U'κ', 'k'}, {U'К', 'k'}, {U'к', 'k'}, {U'ᴋ', 'k'},
};

// Letters in a row from `first`, which is drawn as 'a'.
char letter_from(char32_t code, char32_t first) {
  return code >= first && code < first + 26
             ? static_cast<char>('a' + (code - first))
             : '\0';
}

// The letter that is seen; 0: none.
char seen(char32_t code) {
  constexpr char32_t kMathFirst = 0x1d400;  // bold, italic, ..., monospace
  constexpr char32_t kMathLast = 0x1d6a3;
  if (code >= kMathFirst && code <= kMathLast) {
    return static_cast<char>('a' + (code - kMathFirst) % 26);
  }
  for (const char32_t first : {U'A', U'a', U'Ａ', U'ａ', U'Ⓐ', U'ⓐ'}) {
    if (const char letter = letter_from(code, first)) return letter;
  }
  const auto* found =
      std::find_if(std::begin(kAlike), std::end(kAlike),
                   [code](const Alike& one) { return one.code == code; });
  return found == std::end(kAlike) ? '\0' : found->letter;
}

}  // namespace

bool is_reserved_name(std::string_view name) {
  std::string letters;
  std::string without_digits;  // "House workers 3"
  while (!name.empty()) {
    const std::size_t length = std::max<std::size_t>(utf8_length(name), 1);
    const std::uint32_t code = code_at_start(name, length);
    if (const char letter = seen(code); letter != '\0') {
      letters += letter;
      if (code < '0' || code > '9') without_digits += letter;
    }
    name.remove_prefix(length);
  }
  for (const std::string& seen_as : {letters, without_digits}) {
    if (seen_as == "houseworkers" || seen_as == "houseworker") return true;
  }
  return false;
}

}  // namespace quorate

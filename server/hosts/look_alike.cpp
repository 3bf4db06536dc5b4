#include "server/hosts/look_alike.h"

#include <algorithm>
#include <functional>
#include <utility>

#include "base/error.h"

#include <unicode/normalizer2.h>
#include <unicode/uchar.h>
#include <unicode/unistr.h>
#include <unicode/uspoof.h>

namespace quorate {
namespace {

// Drawn like a capital letter, which the standard's table does not fold.
constexpr std::u16string_view kSmallCapitals = u"ᴀʙᴅᴇꜰɢʜᴊĸᴋʟʍᴍɴᴘʀᴛʏ";
constexpr std::u16string_view kTheirLetters = u"abdefghjkklmmnprty";

void expect_success(UErrorCode status) {
  if (U_SUCCESS(status)) return;
  throw Error(ErrorKind::unavailable,
              std::string("tables of Unicode: ") + u_errorName(status));
}

const USpoofChecker* confusables() {
  static const USpoofChecker* const kChecker = [] {
    UErrorCode status = U_ZERO_ERROR;
    USpoofChecker* checker = uspoof_open(&status);
    expect_success(status);
    return checker;
  }();
  return kChecker;
}

// In one form of each character: full width, circled, bold are the same.
icu::UnicodeString plain_forms(std::string_view name) {
  UErrorCode status = U_ZERO_ERROR;
  const icu::Normalizer2* forms = icu::Normalizer2::getNFKCInstance(status);
  expect_success(status);
  icu::UnicodeString plain =
      forms->normalize(icu::UnicodeString::fromUTF8(
                           {name.data(), static_cast<int>(name.size())}),
                       status);
  expect_success(status);
  return plain;
}

std::string seen(const icu::UnicodeString& name) {
  UErrorCode status = U_ZERO_ERROR;
  icu::UnicodeString skeleton;
  uspoof_getSkeletonUnicodeString(confusables(), 0, name, skeleton, &status);
  expect_success(status);
  skeleton.foldCase();
  icu::UnicodeString letters;
  for (int i = 0; i < skeleton.length(); i = skeleton.moveIndex32(i, 1)) {
    const UChar32 code = skeleton.char32At(i);
    if (u_isUWhiteSpace(code)) continue;
    const std::size_t at =
        code > 0xffff ? std::u16string_view::npos
                      : kSmallCapitals.find(static_cast<char16_t>(code));
    letters.append(at == std::u16string_view::npos
                       ? code
                       : static_cast<UChar32>(kTheirLetters[at]));
  }
  std::string text;
  letters.toUTF8String(text);
  return text;
}

bool is_house(std::string_view letters) {
  return letters == "houseworkers" || letters == "houseworker";
}

}  // namespace

std::vector<std::string> looks_of(std::string_view name) {
  icu::UnicodeString plain = plain_forms(name);
  std::vector<std::string> looks{seen(plain)};
  plain.foldCase();
  std::string folded = seen(plain);
  if (folded != looks.front()) looks.push_back(std::move(folded));
  return looks;
}

bool is_reserved_name(std::string_view name) {
  for (std::string& look : looks_of(name)) {
    std::string with_digits = look;
    std::replace(with_digits.begin(), with_digits.end(), '3', 'e');
    std::replace(with_digits.begin(), with_digits.end(), '5', 's');
    for (std::string* text : {&look, &with_digits}) {
      std::erase_if(*text, [](char c) { return c < 'a' || c > 'z'; });
      if (is_house(*text)) return true;
    }
  }
  return false;
}

namespace {

std::vector<std::size_t> hashes_of(const std::string& name) {
  std::vector<std::size_t> hashes;
  for (const std::string& look : looks_of(name)) {
    hashes.push_back(std::hash<std::string>{}(look));
  }
  return hashes;
}

}  // namespace

void NamesInUse::take(const std::string& name, UserId user) {
  for (const std::size_t look : hashes_of(name)) {
    user_by_look_.emplace(look, user);
  }
}

void NamesInUse::give_up(const std::string& name, UserId user) {
  for (const std::size_t look : hashes_of(name)) {
    const auto found = user_by_look_.find(look);
    if (found != user_by_look_.end() && found->second == user) {
      user_by_look_.erase(found);
    }
  }
}

bool NamesInUse::is_free_for(UserId user, const std::string& name) const {
  for (const std::size_t look : hashes_of(name)) {
    const auto found = user_by_look_.find(look);
    if (found != user_by_look_.end() && found->second != user) return false;
  }
  return true;
}

}  // namespace quorate

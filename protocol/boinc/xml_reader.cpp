#include "protocol/boinc/xml_reader.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include <fmt/format.h>

#include "base/error.h"
#include "protocol/boinc/names.h"
#include "protocol/text.h"

namespace quorate::boinc {
namespace {

[[noreturn]] void reject(std::string_view message, const std::string& why) {
  throw Error(ErrorKind::corrupt, fmt::format("{}: {}", message, why));
}

// "<result><state>", the root left out.
std::string path_of(const pugi::xml_node& node) {
  if (!node.parent().parent()) return fmt::format("<{}>", node.name());
  std::string path;
  for (pugi::xml_node at = node; at.parent().parent(); at = at.parent()) {
    path.insert(0, fmt::format("<{}>", at.name()));
  }
  return path;
}

// 0 for a message that is too short to have more than may be.
std::size_t marks_in(ByteView bytes) {
  if (bytes.size() <= kMaxMarks) return 0;
  return static_cast<std::size_t>(
      std::count_if(bytes.begin(), bytes.end(),
                    [](std::uint8_t c) { return c == '<' || c == '='; }));
}

std::string_view trimmed(std::string_view text) {
  constexpr const char* kSpace = " \t\r\n";
  std::size_t first = text.find_first_not_of(kSpace);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kSpace) - first + 1);
}

}  // namespace

std::string_view XmlElement::raw() const {
  return trimmed(node_.child_value());
}

template <class T>
bool XmlElement::is_number(T& value) const {
  std::string_view text = raw();
  const char* end = text.data() + text.size();
  auto [stop, code] = std::from_chars(text.data(), end, value);
  return code == std::errc() && stop == end;
}

bool XmlElement::is_real(double& value) const {
  return is_number(value) && std::isfinite(value) && value >= 0 &&
         value <= kMaxNumber;
}

std::uint64_t XmlElement::integer(std::uint64_t most) const {
  std::uint64_t value = 0;
  if (is_number(value) && value <= most) return value;
  refuse(fmt::format("an integer from 0 to {}", most));
}

std::uint32_t XmlElement::integer32(std::uint32_t most) const {
  return static_cast<std::uint32_t>(integer(most));
}

std::int32_t XmlElement::signed32() const {
  std::int32_t value = 0;
  if (is_number(value)) return value;
  refuse("an integer of 32 bits");
}

double XmlElement::number() const {
  double value = 0;
  if (is_real(value)) return value;
  refuse(fmt::format("a number from 0 to {}", kMaxNumber));
}

std::uint64_t XmlElement::count() const {
  double value = 0;
  if (is_real(value) && value <= static_cast<double>(kMaxCount) &&
      std::floor(value) == value) {
    return static_cast<std::uint64_t>(value);
  }
  refuse(fmt::format("a whole number from 0 to {}", kMaxCount));
}

bool XmlElement::flag() const {
  std::string_view text = raw();
  if (text.empty() || text == "1") return true;
  if (text == "0") return false;
  refuse("0 or 1");
}

double XmlElement::claimed_number() const {
  double value = 0;
  return is_real(value) ? value : 0;
}

std::uint32_t XmlElement::claimed_integer() const {
  std::uint32_t value = 0;
  return is_number(value) ? value : 0;
}

std::string XmlElement::text(std::size_t most) const {
  std::string_view text = raw();
  if (text.size() > most) {
    refuse(fmt::format("a text of at most {} bytes", most));
  }
  if (!protocol::is_plain_text(text)) {
    refuse("a text without control or invisible characters");
  }
  return std::string(text);
}

std::string XmlElement::cut_text(std::size_t most) const {
  return std::string(trimmed(protocol::plain_text(raw(), most)));
}

std::string XmlElement::file_name() const {
  std::string_view text = raw();
  if (!is_file_name(text)) {
    refuse(fmt::format("a name of at most {} letters, digits, _ . - +",
                       kMaxFileName));
  }
  return std::string(text);
}

void XmlElement::refuse(const std::string& expected) const {
  constexpr std::size_t kShown = 40;
  reject(message_, fmt::format("{}: expected {}, found \"{}\"", path_of(node_),
                               expected, protocol::plain_text(raw(), kShown)));
}

void XmlElement::refuse_more_than(std::size_t most) const {
  reject(message_, fmt::format("{}: expected at most {}, found more",
                               path_of(node_), most));
}

void XmlElement::refuse_without(std::string_view child) const {
  reject(message_, fmt::format("{}: <{}> is missing", path_of(node_), child));
}

XmlDocument::XmlDocument(ByteView bytes, std::string_view message,
                         const char* root)
    : message_(message) {
  if (bytes.size() > kMaxRequestBytes) {
    reject(message,
           fmt::format("{} bytes, at most {}", bytes.size(), kMaxRequestBytes));
  }
  if (as_text(bytes).find('\0') != std::string_view::npos) {
    reject(message, "a zero byte in the text");
  }
  if (std::size_t marks = marks_in(bytes); marks > kMaxMarks) {
    reject(message,
           fmt::format("{} times < or =, at most {}", marks, kMaxMarks));
  }
  constexpr unsigned kOptions = pugi::parse_cdata | pugi::parse_escapes;
  pugi::xml_parse_result result = document_.load_buffer(
      bytes.data(), bytes.size(), kOptions, pugi::encoding_utf8);
  if (!result) {
    reject(message, fmt::format("not XML at byte {}: {}", result.offset + 1,
                                result.description()));
  }
  std::string_view found = document_.document_element().name();
  if (found != root) {
    reject(message, fmt::format("expected <{}>, found <{}>", root,
                                protocol::plain_text(found, kMaxPlatform)));
  }
}

}  // namespace quorate::boinc

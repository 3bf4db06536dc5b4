#include "server/settings/settings_lines.h"

#include <algorithm>
#include <cstddef>

#include <fmt/format.h>

#include "base/error.h"

namespace quorate {
namespace {

constexpr std::string_view kBlank = " \t";
constexpr std::string_view kKey =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-";
constexpr std::string_view kNumber =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-+.:";

// Takes what consists of these characters off the line's front.
std::size_t take(std::string_view& line, std::string_view characters) {
  std::size_t end = std::min(line.find_first_not_of(characters), line.size());
  line.remove_prefix(end);
  return end;
}

// Takes text in quotes off the line's front; false if it does not end.
bool take_quoted(std::string_view& line) {
  char quote = line.front();
  for (std::size_t at = 1; at < line.size(); ++at) {
    if (line[at] == '\\' && quote == '"') {
      ++at;
    } else if (line[at] == quote) {
      line.remove_prefix(at + 1);
      return true;
    }
  }
  return false;
}

bool is_quote(std::string_view line) {
  return line.starts_with('"') || line.starts_with('\'');
}

// Takes a list of texts in quotes, on this line, off its front.
bool take_list(std::string_view& line) {
  line.remove_prefix(1);
  take(line, kBlank);
  while (is_quote(line)) {
    if (!take_quoted(line)) return false;
    take(line, kBlank);
    if (!line.starts_with(',')) break;
    line.remove_prefix(1);
    take(line, kBlank);
  }
  if (!line.starts_with(']')) return false;
  line.remove_prefix(1);
  return true;
}

bool take_value(std::string_view& line) {
  if (is_quote(line)) return take_quoted(line);
  return line.starts_with('[') ? take_list(line) : take(line, kNumber) > 0;
}

bool is_rest(std::string_view line) {
  take(line, kBlank);
  return line.empty() || line.front() == '#';
}

bool is_plain(std::string_view line) {
  if (is_rest(line)) return true;
  take(line, kBlank);
  if (take(line, kKey) == 0) return false;
  take(line, kBlank);
  if (!line.starts_with('=')) return false;
  line.remove_prefix(1);
  take(line, kBlank);
  return take_value(line) && is_rest(line);
}

}  // namespace

void expect_plain_lines(std::string_view text, const std::string& place) {
  for (std::size_t number = 1; !text.empty(); ++number) {
    std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (is_plain(line)) continue;
    throw Error(ErrorKind::usage,
                fmt::format("settings {}, line {}: expected NAME = VALUE, text "
                            "in quotes, several in [ ] on one line, or a # "
                            "comment",
                            place, number));
  }
}

}  // namespace quorate

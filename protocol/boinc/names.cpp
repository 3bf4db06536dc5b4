#include "protocol/boinc/names.h"

#include <algorithm>

#include "protocol/boinc/limits.h"

namespace quorate::boinc {

bool is_file_name(std::string_view text) {
  auto is_allowed = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
           (c >= '0' && c <= '9') || c == '_' || c == '.' || c == '-' ||
           c == '+';
  };
  return !text.empty() && text.size() <= kMaxFileName && text != "." &&
         text.find("..") == std::string_view::npos &&
         std::all_of(text.begin(), text.end(), is_allowed);
}

}  // namespace quorate::boinc

#include "server/http/clients/forwarded.h"

#include <optional>

namespace quorate {
namespace {

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kSpaces = " \t";
  const std::size_t first = text.find_first_not_of(kSpaces);
  if (first == text.npos) return {};
  return text.substr(first, text.find_last_not_of(kSpaces) - first + 1);
}

// Takes the last item away.
std::string_view take_last(std::string_view& list) {
  const std::size_t comma = list.rfind(',');
  const bool is_only = comma == list.npos;
  const std::string_view item = list.substr(is_only ? 0 : comma + 1);
  list = is_only ? std::string_view() : list.substr(0, comma);
  return trimmed(item);
}

}  // namespace

std::string forwarded_address(std::string_view list, const std::string& proxy,
                              const std::vector<IpBlock>& trusted) {
  while (!list.empty()) {
    const std::optional<IpAddress> address = parse_ip(take_last(list));
    if (!address) return proxy;
    if (!contains(trusted, *address)) return text_of(*address);
  }
  return proxy;
}

}  // namespace quorate

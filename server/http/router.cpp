#include "server/http/router.h"

#include <algorithm>

#include "server/http/text.h"

namespace quorate {
namespace {

bool is_name(std::string_view segment) {
  return segment.size() > 2 && segment.front() == '{' && segment.back() == '}';
}

bool is_rest(std::string_view segment) {
  return is_name(segment) && segment.ends_with("...}");
}

bool fits(const Route& route, const std::vector<std::string>& segments) {
  const auto& pattern = route.segments;
  bool rest = !pattern.empty() && is_rest(pattern.back());
  if (rest ? segments.size() < pattern.size()
           : segments.size() != pattern.size()) {
    return false;
  }
  for (std::size_t i = 0; i < pattern.size(); ++i) {
    if (!is_name(pattern[i]) && pattern[i] != segments[i]) return false;
  }
  return true;
}

std::vector<NameValue> values_of(const Route& route,
                                 const std::vector<std::string>& segments) {
  std::vector<NameValue> values;
  for (std::size_t i = 0; i < route.segments.size(); ++i) {
    std::string_view name = route.segments[i];
    if (!is_name(name)) continue;
    bool rest = is_rest(name);
    name = name.substr(1, name.size() - (rest ? 5 : 2));
    std::string value = segments[i];
    for (std::size_t j = i + 1; rest && j < segments.size(); ++j) {
      value += '/' + segments[j];
    }
    values.emplace_back(name, std::move(value));
  }
  return values;
}

}  // namespace

Route& Router::new_route(Method method, std::string_view pattern) {
  auto target = parse_target(pattern);
  check(target.has_value(), "a route's pattern is a path");
  Route& route = routes_.emplace_back();
  route.method = method;
  route.segments = std::move(target->segments);
  return route;
}

void Router::add(Method method, std::string_view pattern, Handler handler,
                 std::uint64_t max_body_bytes) {
  Route& route = new_route(method, pattern);
  route.handler = std::move(handler);
  route.max_body_bytes = max_body_bytes;
}

void Router::add_upload(Method method, std::string_view pattern,
                        SinkFactory open_sink, std::uint64_t max_body_bytes) {
  Route& route = new_route(method, pattern);
  route.open_sink = std::move(open_sink);
  route.max_body_bytes = max_body_bytes;
}

RouteMatch Router::match(Method method,
                         const std::vector<std::string>& segments,
                         std::vector<NameValue>& path_values) const {
  std::vector<std::string_view> known;
  auto know = [&known](std::string_view name) {
    if (std::find(known.begin(), known.end(), name) == known.end()) {
      known.push_back(name);
    }
  };
  for (const Route& route : routes_) {
    if (!fits(route, segments)) continue;
    if (route.method == method ||
        (route.method == Method::get && method == Method::head)) {
      path_values = values_of(route, segments);
      return {&route, {}};
    }
    know(name_of(route.method));
    if (route.method == Method::get) know(name_of(Method::head));
  }
  RouteMatch none;
  for (std::string_view name : known) {
    if (!none.allow.empty()) none.allow += ", ";
    none.allow += name;
  }
  return none;
}

}  // namespace quorate

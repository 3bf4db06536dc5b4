#include "server/settings/roles.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "base/error.h"

namespace quorate {
namespace {

struct NamedRole {
  const char* name;
  bool Roles::*member;
};

constexpr std::array kRoles = {NamedRole{"scheduler", &Roles::scheduler},
                               NamedRole{"validator", &Roles::validator},
                               NamedRole{"assimilator", &Roles::assimilator},
                               NamedRole{"evaluator", &Roles::evaluator}};

}  // namespace

Roles parse_roles(const std::string& text) {
  if (text.empty() || text == "all") return {};
  Roles roles{false, false, false, false};
  for (std::size_t at = 0; at <= text.size();) {
    std::size_t end = std::min(text.find(',', at), text.size());
    std::string name = text.substr(at, end - at);
    at = end + 1;
    auto role = std::find_if(kRoles.begin(), kRoles.end(),
                             [&](const auto& r) { return r.name == name; });
    if (role == kRoles.end()) {
      throw Error(ErrorKind::usage,
                  fmt::format("--roles: unknown role \"{}\": choose from "
                              "scheduler, validator, assimilator, evaluator",
                              name));
    }
    roles.*(role->member) = true;
  }
  return roles;
}

std::vector<std::string> roles_off(const Roles& roles) {
  std::vector<std::string> names;
  for (const NamedRole& role : kRoles) {
    if (!(roles.*(role.member))) names.emplace_back(role.name);
  }
  return names;
}

}  // namespace quorate

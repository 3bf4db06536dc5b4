// Which daemons run by themselves; the others are run by hand (`quorate
// validate`, `quorate assimilate`).
#pragma once

#include <string>
#include <vector>

namespace quorate {

struct Roles {
  bool scheduler = true;
  bool validator = true;
  bool assimilator = true;
  bool evaluator = true;
};

// "scheduler,validator,..."; throws usage, listing them, for an unknown one.
Roles parse_roles(const std::string& text);
// Names of those that do not run.
std::vector<std::string> roles_off(const Roles& roles);

}  // namespace quorate

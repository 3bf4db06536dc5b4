// Ways to be false towards a project, each a change to an honest report.
#pragma once

#include <span>
#include <string_view>

#include "bench/attacks/report.h"

namespace quorate::bench {

struct Attack {
  std::string_view name;
  std::string_view meaning;
  void (*apply)(Report& report, const Scene& scene);
};

std::span<const Attack> attacks();
// nullptr if there is none.
const Attack* find_attack(std::string_view name);

}  // namespace quorate::bench

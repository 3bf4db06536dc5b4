#pragma once

// What the trust tests share: a project that checks its volunteers, and its
// house worker at work.
#include <cstdint>
#include <optional>

#include "tests/server/project_fixture.h"

namespace quorate::test {

// 33 units of one step in each of four epochs; one house worker.
inline ProjectOptions trusting(std::uint32_t proven_after, double spot_check) {
  ProjectOptions options;
  options.local_steps = 1;
  options.epochs = 4;
  options.house_workers = 1;
  options.proven_after = proven_after;
  options.spot_check = spot_check;
  options.anchor = true;
  return options;
}

// The house worker computes all that waits for it.
inline void house_works(ProjectFixture& project) {
  std::optional<Assignment> assignment;
  do {
    project.job(
        [&] { assignment = project.daemons().scheduler.work_for_house(); });
    if (assignment) project.report(project.house(), *assignment);
  } while (assignment);
}

}  // namespace quorate::test

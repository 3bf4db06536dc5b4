#pragma once

// What the trust tests share: a project that checks its volunteers, and its
// house worker at work.
#include <cstdint>
#include <optional>

#include <doctest/doctest.h>

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

inline void become_proven(ProjectFixture& project, const Volunteer& who) {
  project.job([&] {
    Consequences(project.state())
        .trust(*project.state().hosts.host(who.host), "for this test");
  });
  REQUIRE(project.state().trust.standing(project.host(who)) ==
          Standing::proven);
}

// Two proven hosts on one unit: the first was silent for a lease and reports
// late; the second still computes.
struct LateUnit {
  Assignment first, second;
};
inline LateUnit late_unit(ProjectFixture& project, const Volunteer& slow,
                          const Volunteer& other, const Forgery& forgery = {}) {
  LateUnit unit;
  unit.first = project.take(slow);
  project.pass(Seconds(15));
  project.heartbeat(other, {});
  project.pass(Seconds(10));
  project.heartbeat(other, {});
  unit.second = project.take(other);
  REQUIRE(project.unit_of(unit.first.result).id ==
          project.unit_of(unit.second.result).id);
  project.report(slow, unit.first, forgery);
  return unit;
}

}  // namespace quorate::test

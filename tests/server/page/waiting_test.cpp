#include "server/page/waiting.h"

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include "server/judging/consequences.h"
#include "server/page/status.h"
#include "tests/server/judging/trust_scene.h"
#include "tests/server/project_fixture.h"

namespace quorate {
namespace {

using test::ProjectFixture;
using test::ProjectOptions;
using test::Volunteer;

WaitingRun run_with(std::size_t users, std::size_t stuck) {
  WaitingRun run;
  run.has_house_worker = false;
  run.quorum = 2;
  run.users = users;
  run.stuck = stuck;
  return run;
}

std::string waits(ProjectFixture& project) {
  return status::run(project.state(), project.run())["waits"];
}

}  // namespace

TEST_CASE("what a run waits for") {
  CHECK(why_it_waits(run_with(1, 118)) ==
        "waits: 118 results need a second user (quorum 2); there is 1, and no "
        "house worker");
  CHECK(why_it_waits(run_with(3, 1)) ==
        "waits: 1 result needs another user (quorum 2); there are 3, and no "
        "house worker");
  CHECK(why_it_waits(run_with(0, 0)) ==
        "waits: no volunteer is there, and no house worker");
  CHECK(why_it_waits(run_with(0, 2)) ==
        "waits: no volunteer is there for 2 results, and no house worker");
  CHECK(why_it_waits(run_with(1, 0)).empty());
  WaitingRun unproven = run_with(2, 4);
  unproven.wants_anchor = true;
  CHECK(why_it_waits(unproven).find("4 results need a proven host") !=
        std::string::npos);
  CHECK(why_it_waits(unproven).find("quorate host trust") != std::string::npos);
  WaitingRun run = run_with(1, 118);
  run.has_house_worker = true;
  CHECK(why_it_waits(run).empty());
  run.for_house = 2;
  CHECK(why_it_waits(run).find("2 units wait for a house worker") !=
        std::string::npos);
  run.gives_way = true;
  CHECK(why_it_waits(run).find("its share is 0") != std::string::npos);
  run.is_served = false;
  CHECK(why_it_waits(run) == "waits: no server runs; start `quorate serve`");
}

TEST_CASE("checks that the house worker cannot keep up with are named") {
  ProjectFixture project(test::trusting(1, 1));
  project.state().is_served = true;
  Volunteer ann = project.join();
  test::become_proven(project, ann);
  CHECK(waits(project).empty());
  for (;;) {
    const std::vector<Assignment> work = project.ask(ann).assignments;
    if (work.empty()) break;
    project.report(ann, work.front());
  }
  CHECK(waits(project).find("16 units wait for a house worker") !=
        std::string::npos);
  test::house_works(project);
  CHECK(waits(project).empty());
}

TEST_CASE("new hosts without anybody proven wait for an anchor") {
  ProjectOptions options;
  options.anchor = true;
  options.proven_after = 20;
  ProjectFixture project(options);
  project.state().is_served = true;
  Volunteer ann = project.join();
  Volunteer bob = project.join();
  project.report(ann, project.take(ann));
  CHECK(waits(project).find("1 result needs a proven host") !=
        std::string::npos);
  project.job([&] {
    Consequences(project.state())
        .trust(*project.state().hosts.host(bob.host), "known");
  });
  CHECK(waits(project).empty());
}

TEST_CASE("one user alone leaves the quorum's other results") {
  ProjectFixture project;
  CHECK(waits(project).find("no server runs") != std::string::npos);
  project.state().is_served = true;
  CHECK(waits(project).find("no volunteer is there,") != std::string::npos);
  Volunteer ann = project.join();
  Assignment first = project.take(ann);
  CHECK(waits(project).find("1 result needs a second user") !=
        std::string::npos);
  // A second machine of hers changes nothing, another user does.
  Volunteer also_ann = project.join(ann);
  project.heartbeat(also_ann, {});
  CHECK(waits(project).find("there is 1") != std::string::npos);
  Volunteer bob = project.join();
  project.heartbeat(bob, {});
  CHECK(waits(project).empty());
  // One who is banned is nobody.
  project.job([&] {
    Consequences consequences(project.state());
    consequences.ban(*project.state().hosts.host(bob.host), "for this test");
  });
  CHECK(waits(project).find("there is 1") != std::string::npos);
  project.pass(Seconds(60));
  CHECK(waits(project).find("no volunteer is there for") != std::string::npos);
  project.run().run.state = RunState::paused;
  CHECK(waits(project).empty());
}

TEST_CASE("with a house worker nobody is waited for") {
  ProjectOptions options;
  options.house_workers = 1;
  ProjectFixture project(options);
  project.state().is_served = true;
  project.take(project.join());
  CHECK(waits(project).empty());
}

}  // namespace quorate

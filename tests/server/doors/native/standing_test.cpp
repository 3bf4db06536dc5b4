#include "server/doors/native/standing.h"

#include <doctest/doctest.h>

#include "tests/server/project_fixture.h"

namespace quorate {
namespace {

using protocol::StandingReply;
using test::ProjectFixture;
using test::ProjectOptions;
using test::Volunteer;

TEST_CASE("a host hears what became of its results, and of no others") {
  ProjectFixture project;
  Volunteer ann = project.join(), bob = project.join();
  auto standing = [&](const Volunteer& who) {
    StandingReply reply;
    project.job([&] { reply = standing_of(project.state(), who.host); });
    return reply;
  };
  Assignment first = project.take(ann);
  Assignment second = project.take(bob);
  CHECK(standing(ann).in_progress == 1);

  // Reported, but nobody has agreed yet: it is pending, and no more is told.
  project.report(ann, first);
  CHECK(standing(ann).in_progress == 0);
  CHECK(standing(ann).pending == 1);
  CHECK(standing(bob).pending == 0);
  CHECK(standing(ann).runs.empty());

  // Agreed: both have a share in version 1, whosever update was merged.
  project.report(bob, second);
  for (const Volunteer& who : {ann, bob}) {
    StandingReply reply = standing(who);
    CHECK(reply.host == who.host);
    CHECK(reply.valid == 1);
    CHECK(reply.pending == 0);
    CHECK(reply.credit == project.host(who).credit);
    CHECK(reply.user_credit == reply.credit);
    REQUIRE(reply.runs.size() == 1);
    CHECK(reply.runs[0].run == project.run().run.name);
    CHECK(reply.runs[0].results == 1);
    CHECK(reply.runs[0].first_version == 1);
    CHECK(reply.runs[0].last_version == 1);
  }
}

TEST_CASE("in rounds a share is in the version that the round makes") {
  ProjectOptions options;
  options.rule = "diloco";
  options.quorum = 1;
  options.round_units = 2;
  options.epochs = 2;
  ProjectFixture project(options);
  Volunteer ann = project.join(), bob = project.join();
  project.train_to_end({ann, bob});
  std::uint64_t shared = 0;
  project.job([&] {
    for (const Volunteer& who : {ann, bob}) {
      StandingReply reply = standing_of(project.state(), who.host);
      REQUIRE(reply.runs.size() == 1);
      CHECK(reply.runs[0].first_version >= 1);
      CHECK(reply.runs[0].last_version == project.run().model.version());
      shared += reply.runs[0].results;
    }
  });
  CHECK(shared == project.assimilated().size());
}

}  // namespace
}  // namespace quorate

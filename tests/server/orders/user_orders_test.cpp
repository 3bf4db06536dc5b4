// What the operator decides about an account.
#include "server/orders/user_orders.h"

#include <string>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "server/judging/consequences.h"
#include "tests/server/project_fixture.h"

namespace quorate {
namespace {

using nlohmann::json;
using test::ProjectFixture;
using test::ProjectOptions;
using test::Volunteer;

ProjectOptions on_disk() {
  ProjectOptions options;
  options.on_disk = true;
  return options;
}

using Order = json (*)(ProjectState&, Daemons&, const json&);

json give(ProjectFixture& project, Order order, UserId user,
          const std::string& reason) {
  json row;
  project.job([&] {
    row = order(project.state(), project.daemons(),
                {{"user", std::to_string(user)}, {"reason", reason}});
  });
  return row;
}

}  // namespace

TEST_CASE("a banned account's hosts are banned, and it registers no others") {
  ProjectFixture project(on_disk());
  const Volunteer eve = project.join(), attic = project.join(eve);
  const Volunteer ann = project.join();
  const json row = give(project, ban_user, eve.user, "made-up results");
  CHECK(row["hosts"] == 2);
  CHECK(row["state"] == "banned");
  CHECK(row["ban_reason"] == "made-up results");
  SUBCASE("") {}
  SUBCASE("also after the server started again") {
    project.reopen();
  }
  CHECK(project.state().hosts.user(eve.user)->ban_reason == "made-up results");
  for (const Volunteer& one : {eve, attic}) {
    CHECK(project.host(one).mark == HostMark::banned);
    CHECK(project.host(one).mark_reason ==
          "its account is banned: made-up results");
    CHECK(project.ask(one).assignments.empty());
  }
  CHECK(project.host(ann).mark == HostMark::none);
  CHECK_THROWS_WITH_AS(
      project.join(eve),
      "register host: this account is banned from the project: made-up "
      "results: ask its operator",
      Error);
  project.join(ann);
  // It knows its own hosts: theirs is to hear why they get no work.
  project.job([&] {
    const Host known = project.host(eve);
    HostTable& hosts = project.state().hosts;
    CHECK(hosts.register_host_of(eve.user, known, 9).id == eve.host);
  });
  CHECK(project.events("user_banned") == 1);
  CHECK(project.events("host_banned") == 2);
}

TEST_CASE("a pardon of an account frees what was banned with it alone") {
  ProjectFixture project;
  const Volunteer eve = project.join(), attic = project.join(eve);
  project.job([&] {
    Consequences(project.state())
        .ban(*project.state().hosts.host(attic.host), "false results");
  });
  give(project, ban_user, eve.user, "first");
  give(project, ban_user, eve.user,
       "second");  // another reason, the same hosts
  CHECK(project.host(eve).mark_reason == "its account is banned: second");
  give(project, pardon_user, eve.user, "she explained");
  CHECK(project.state().hosts.user(eve.user)->ban_reason.empty());
  CHECK(project.host(eve).mark == HostMark::none);
  CHECK(project.host(attic).mark == HostMark::banned);
  CHECK(project.host(attic).mark_reason == "false results");
  project.join(eve);
  CHECK_FALSE(project.ask(eve).assignments.empty());
  CHECK(project.events("user_pardoned") == 1);
}

TEST_CASE("the server's own account and who is not banned are left alone") {
  ProjectFixture project;
  const Volunteer ann = project.join();
  CHECK_THROWS_WITH_AS(give(project, ban_user, kHouseUser, "x"),
                       doctest::Contains("the server's own account"), Error);
  CHECK_THROWS_WITH_AS(give(project, pardon_user, ann.user, "x"),
                       doctest::Contains("is not banned"), Error);
  const json all = list_users(project.state(), json::object());
  REQUIRE(all.size() == 1);
  CHECK(all[0]["id"] == ann.user);
  CHECK(all[0]["state"] == "member");
}

}  // namespace quorate

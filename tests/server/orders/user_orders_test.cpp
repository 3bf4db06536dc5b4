// What the operator decides about an account.
#include "server/orders/user_orders.h"

#include <string>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "server/judging/consequences.h"
#include "server/orders/named.h"
#include "server/page/page_lists.h"
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

TEST_CASE("what the operator calls an account stays its name") {
  ProjectFixture project;
  const Volunteer eve = project.join();
  const auto rename = [&](UserId user, const std::string& name) {
    project.job([&] {
      rename_user(project.state(),
                  {{"user", std::to_string(user)}, {"name", name}});
    });
  };
  rename(eve.user, "somebody");
  project.job([&] {
    project.state().hosts.register_user(eve.account.public_key(), "Rude", 1);
  });
  CHECK(project.state().hosts.user(eve.user)->name == "somebody");
  for (const std::string& name :
       {std::string(), std::string("two\nlines"), std::string(65, 'x')}) {
    CHECK_THROWS_WITH_AS(rename(eve.user, name),
                         doctest::Contains("expected 1 to 64 bytes"), Error);
  }
  CHECK_THROWS_WITH_AS(rename(eve.user, "house workers"),
                       doctest::Contains("the server's own workers"), Error);
  CHECK(project.events("user_renamed") == 1);
}

TEST_CASE("a deleted account leaves its results, and no name") {
  ProjectOptions options = on_disk();
  options.quorum = 1;
  ProjectFixture project(options);
  const Volunteer eve = project.join();
  project.job([&] {
    HostTable& hosts = project.state().hosts;
    hosts.register_user(eve.account.public_key(), "Eve", 1);
    hosts.host(eve.host)->name = "eves-laptop";
    hosts.note_block(eve.host, "203.0.113.0/24", project.clock.now());
    project.state().record("host_joined", 0, eve.host, "Eve: linux, 8 cores");
  });
  project.report(eve, project.take(eve));
  REQUIRE(project.assimilated().size() == 1);
  const Assignment held = project.take(eve);
  project.job([&] {
    delete_user(project.state(), project.daemons(), {{"user", "Eve"}});
  });
  CHECK(project.state().hosts.block(eve.host).empty());
  for (const DeviceRecord& record : project.state().store.device_records()) {
    CHECK(record.host != eve.host);
  }
  SUBCASE("") {}
  SUBCASE("also after the server started again") {
    project.reopen();
  }
  HostTable& hosts = project.state().hosts;
  const User& gone = *hosts.user(eve.user);
  CHECK(gone.name == "deleted-" + std::to_string(eve.user));
  CHECK(gone.credit > 0);
  CHECK(page::users(project.state())["total"] == 0);
  const Host& host = project.host(eve);
  CHECK(host.name == neutral_host_name(host.key));
  CHECK(host.platform.empty());
  CHECK(host.mark_reason == "its account was deleted");
  for (const Event& event : project.state().store.events({})) {
    CHECK(event.text.find("Eve") == event.text.npos);
    CHECK(event.text.find("eves-laptop") == event.text.npos);
  }
  // What it holds goes to others, and neither it nor another host is let in.
  CHECK(project.result(held.result).outcome == ResultOutcome::client_error);
  CHECK(project.assimilated().size() == 1);
  test::check_ledger(project);
  const auto refuses = [&](auto&& call) {
    project.job([&] {
      CHECK_THROWS_WITH_AS(call(), doctest::Contains("account was deleted"),
                           Error);
    });
  };
  refuses([&] { hosts.register_user(eve.account.public_key(), "Eve", 9); });
  refuses([&] { hosts.register_host_of(eve.user, Host(host), 9); });
  refuses([&] { hosts.register_host_of(eve.user, Host(), 9); });
  CHECK_THROWS_WITH_AS(give(project, pardon_user, eve.user, "x"),
                       doctest::Contains("it was deleted"), Error);
}

TEST_CASE("a host alone cannot be pardoned of what its account did") {
  ProjectFixture project;
  const Volunteer eve = project.join();
  expect_good_account(project.state(), project.host(eve));
  give(project, ban_user, eve.user, "rude");
  CHECK_THROWS_WITH_AS(
      expect_good_account(project.state(), project.host(eve)),
      doctest::Contains("account is banned (rude): pardon that"), Error);
  project.job([&] {
    delete_user(project.state(), project.daemons(),
                {{"user", std::to_string(eve.user)}});
  });
  CHECK_THROWS_WITH_AS(expect_good_account(project.state(), project.host(eve)),
                       doctest::Contains("deleted, which cannot be undone"),
                       Error);
  CHECK(project.state().hosts.user(eve.user)->ban_reason.empty());
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

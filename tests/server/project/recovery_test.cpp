// A server that dies and starts again from its store and objects.
#include <utility>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "base/error.h"
#include "server/store/sqlite/connection.h"
#include "tests/server/project_fixture.h"

namespace quorate {
namespace {

using test::check_ledger;
using test::ProjectFixture;
using test::ProjectOptions;
using test::Volunteer;

ProjectOptions on_disk(const char* rule) {
  ProjectOptions options;
  options.rule = rule;
  options.round_units = 3;
  options.on_disk = true;
  return options;
}

// As a version left them that kept them so.
void move_tasks_to_objects(ProjectFixture& project) {
  SqliteConnection store(project.state().folder.database());
  {
    Query tasks = store.query("SELECT bytes FROM sealed_tasks");
    while (tasks.next()) project.state().objects.put(tasks.blob());
  }
  store.execute("DELETE FROM sealed_tasks");
}

}  // namespace

TEST_CASE("a run goes on after restarts at every point of its life") {
  const ProjectOptions defaults;
  struct Case {
    const char* rule;
    std::string model;
  };
  const Case cases[] = {{"vc-asgd", defaults.model},
                        {"diloco", defaults.model},
                        {"diloco", R"(layers {"layers":[{"layer":"batch_norm"},
          {"layer":"mean_pixels"},{"layer":"linear","outputs":2}]})"}};
  for (const Case& n : cases) {
    CAPTURE(n.rule);
    CAPTURE(n.model);
    ProjectOptions options = on_disk(n.rule);
    options.model = n.model;
    ProjectFixture project(options);
    std::vector<Volunteer> users;
    for (int i = 0; i < 4; ++i) users.push_back(project.join());
    for (int turn = 0;; ++turn) {
      REQUIRE(turn < 60);
      bool any = false;
      for (const Volunteer& who : users) {
        WorkAnswer reply = project.ask(who);
        if (reply.assignments.empty()) continue;
        any = true;
        // What is in memory is lost anyway.
        const ModelState before = std::move(project.run().model);
        Hash head = project.run().last_hash;
        project.reopen();  // between the assignment and its report
        CHECK(project.run().model.version() == before.version());
        CHECK(project.run().model.parameters() == before.parameters());
        CHECK(project.run().model.published() == before.published());
        CHECK(project.run().model.rule_state() == before.rule_state());
        CHECK(project.run().last_hash == head);
        project.report(who, reply.assignments[0]);
        if (turn % 2 == 1) project.reopen();
      }
      if (!any) break;
    }
    project.train_to_end(users);
    CHECK(project.run().run.state == RunState::finished);
    check_ledger(project);
  }
}

TEST_CASE("a run that an earlier version began goes on") {
  for (const char* rule : {"vc-asgd", "diloco"}) {
    CAPTURE(rule);
    ProjectFixture project(on_disk(rule));
    std::vector<Volunteer> users;
    for (int i = 0; i < 4; ++i) users.push_back(project.join());
    for (const Volunteer& who : users) {
      project.report(who, project.take(who));
    }
    Assignment live = project.take(users[0]);
    project.ask(users[1]);
    move_tasks_to_objects(project);
    project.reopen();
    REQUIRE(project.run().run.state == RunState::running);
    project.report(users[0], live);
    project.train_to_end(users);
    CHECK(project.run().run.state == RunState::finished);
    check_ledger(project);
  }
}

TEST_CASE("a damaged update pauses its run, and a mended one goes in") {
  for (const char* rule : {"vc-asgd", "diloco"}) {
    CAPTURE(rule);
    ProjectOptions options = on_disk(rule);
    options.roles.assimilator = false;
    ProjectFixture project(options);
    auto assimilate = [&] {
      project.job([&] { project.daemons().assimilator.pass(project.run()); });
    };
    std::vector<Volunteer> users = {project.join(), project.join()};
    Assignment first = project.take(users[0]);
    project.report(users[0], first);
    project.train_to_end(users);
    REQUIRE(project.assimilated().empty());
    fs::path file =
        project.state().objects.path(project.result(first.result).update);
    Bytes whole = read_file(file);
    Bytes changed = whole;
    changed.back() ^= 1;
    write_file_durably(file, changed);

    assimilate();
    project.reopen();  // nor does it stop a server that starts
    assimilate();
    CHECK(project.run().run.state == RunState::paused);
    std::string reason = project.run().run.state_reason;
    CHECK(reason.find(file.string()) != std::string::npos);
    CHECK(reason.find("train resume") != std::string::npos);
    CHECK(project.events("run_paused") == 1);
    CHECK(project.assimilated().empty());

    write_file_durably(file, whole);
    project.job([&] {
      project.run().run.state = RunState::running;
      project.run().is_damaged = false;
    });
    assimilate();
    CHECK(project.assimilated().size() >= 3);
    check_ledger(project);
  }
}

TEST_CASE("a run with damaged objects at the start waits for them") {
  ProjectFixture project(on_disk("vc-asgd"));
  std::vector<Volunteer> users = {project.join(), project.join()};
  Assignment first = project.take(users[0]);
  Assignment second = project.take(users[1]);
  project.report(users[0], first);
  project.report(users[1], second);
  fs::path file =
      project.state().objects.path(project.result(first.result).update);
  Bytes bytes = read_file(file);
  fs::remove(file);
  project.reopen();
  CHECK(project.run().run.state == RunState::paused);
  CHECK(project.run().run.state_reason.find(file.string()) !=
        std::string::npos);
  CHECK(project.ask(users[0]).assignments.empty());

  write_file_durably(file, bytes);
  project.reopen();
  CHECK(project.run().run.state == RunState::running);
  project.train_to_end(users);
  CHECK(project.run().run.state == RunState::finished);
  check_ledger(project);
}

TEST_CASE("results that are late may be reported after a restart, too") {
  ProjectFixture project(on_disk("vc-asgd"));
  const Volunteer ann = project.join();
  const Assignment late = project.take(ann);
  const SignedHeader header = project.upload(ann, late);
  project.uploads().keep_header(late.result, header.bytes);
  project.pass(project.settings.lease + Seconds(1));
  REQUIRE(project.result(late.result).outcome == ResultOutcome::no_reply);
  project.reopen();
  CHECK(project.uploads().header(late.result) == header.bytes);
  CHECK(project.heartbeat(ann, {late.result}).cancel.empty());
  project.upload(ann, late);
  CHECK(project.send(ann, late.result, header).accepted);
  CHECK(project.result(late.result).outcome == ResultOutcome::success);
}

TEST_CASE("what hosts have of a run that cannot be loaded waits for it") {
  ProjectFixture project(on_disk("vc-asgd"));
  const std::vector<Volunteer> users = {project.join(), project.join()};
  const Assignment first = project.take(users[0]);
  project.report(users[0], first);
  project.report(users[1], project.take(users[1]));
  const Assignment one = project.take(users[0]);
  const SignedHeader header = project.upload(users[0], one);
  const Hash update = project.compute(one).claim.update;
  project.uploads().keep_header(one.result, header.bytes);
  write_file_durably(
      project.state().folder.uploads() / fmt::format("{}.payload", one.result),
      as_bytes(update.hex()));

  const fs::path damaged =
      project.state().objects.path(project.result(first.result).update);
  const Bytes bytes = read_file(damaged);
  fs::remove(damaged);
  project.reopen();
  REQUIRE(project.run().run.state == RunState::paused);
  CHECK_FALSE(project.state().open_results.find(one.result));
  CHECK(project.state().open_results.uploaded() == std::vector{update});
  const WorkAnswer reply = project.heartbeat(users[0], {one.result});
  CHECK(reply.cancel.empty());
  CHECK(reply.closed.empty());
  try {
    project.send(users[0], one.result, header);
    FAIL("it cannot be taken");
  } catch (const Error& error) {
    CHECK(error.kind() == ErrorKind::unavailable);
  }

  write_file_durably(damaged, bytes);
  project.reopen();
  REQUIRE(project.run().run.state == RunState::running);
  CHECK(project.uploads().header(one.result) == header.bytes);
  CHECK(project.send(users[0], one.result, header).accepted);
  project.train_to_end(users);
  check_ledger(project);
}

TEST_CASE("a run that has ended needs no objects to be opened") {
  ProjectFixture project(on_disk("vc-asgd"));
  project.train_to_end({project.join(), project.join()});
  REQUIRE(project.run().run.state == RunState::finished);
  std::uint64_t version = project.run().model.version();
  std::uint64_t published = project.run().published_version;
  fs::remove(project.state().objects.path(project.run().published_hash));
  project.reopen();
  CHECK(project.run().run.state == RunState::finished);
  CHECK(project.run().model.version() == version);
  CHECK(project.run().published_version == published);
}

TEST_CASE("a missing object is not sent: its run is paused") {
  ProjectFixture project(on_disk("vc-asgd"));
  std::vector<Volunteer> users = {project.join(), project.join()};
  Assignment first = project.take(users[0]);
  fs::path file = project.state().objects.path(first.objects[1].hash);
  Bytes bytes = read_file(file);
  fs::remove(file);
  project.pass(Seconds(0.1));  // until then it is taken to be there
  CHECK(project.ask(users[1]).assignments.empty());
  CHECK(project.run().run.state == RunState::paused);
  CHECK(project.run().run.state_reason.find(file.string()) !=
        std::string::npos);

  write_file_durably(file, bytes);
  project.job([&] {
    project.run().is_damaged = false;
    project.run().run.state = RunState::running;
  });
  project.train_to_end(users);
  CHECK(project.run().run.state == RunState::finished);
}

TEST_CASE("a damaged object that hosts fail at pauses its run") {
  ProjectFixture project(on_disk("vc-asgd"));
  std::vector<Volunteer> users = {project.join(), project.join()};
  Assignment first = project.take(users[0]);
  Assignment second = project.take(users[1]);
  REQUIRE(first.objects[0].hash == second.objects[0].hash);
  // So many failures that the host would have to rest.
  std::vector<Assignment> more =
      project.ask(users[0], 3, {first.result}).assignments;
  REQUIRE(more.size() == 3);
  auto fail = [&](const Volunteer& who, const Assignment& one) {
    project.job([&] {
      project.daemons().transitioner.on_failed(who.host, one.result, "bad");
      project.daemons().assimilator.pass(project.run());
    });
  };
  std::string reason;
  SUBCASE("but a host's word alone does not") {
    fail(users[0], first);
    fail(users[1], second);
    CHECK(project.run().run.state == RunState::running);
  }
  for (std::size_t object = 1; object < 3; ++object) {
    SUBCASE(std::string(name_of(first.objects[object].kind)).c_str()) {
      fs::path file = project.state().objects.path(first.objects[object].hash);
      Bytes bytes = read_file(file);
      std::uint8_t last = bytes.back();
      bytes.pop_back();
      write_file_durably(file, bytes);
      fail(users[0], first);
      CHECK(project.run().run.state == RunState::paused);
      fail(users[1], second);
      for (const Assignment& one : more) fail(users[0], one);
      reason = project.run().run.state_reason;
      // Mended, both may try again.
      bytes.push_back(last);
      write_file_durably(file, bytes);
      project.job([&] {
        project.run().is_damaged = false;
        project.run().run.state = RunState::running;
        project.daemons().transitioner.forgive(project.run());
      });
      CHECK_FALSE(project.ask(users[0]).assignments.empty());
      project.train_to_end(users);
      CHECK(project.run().run.state == RunState::finished);
      CHECK(reason.find(file.string()) != std::string::npos);
      CHECK(reason.find("train resume") != std::string::npos);
    }
  }
}

TEST_CASE("what was reported before a damage counts after it") {
  ProjectFixture project(on_disk("vc-asgd"));
  std::vector<Volunteer> users = {project.join(), project.join()};
  Assignment first = project.take(users[0]);
  Assignment second = project.take(users[1]);
  project.report(users[0], first);
  project.give_up(users[1], second.result, "damaged");
  project.job([&] { project.daemons().transitioner.forgive(project.run()); });
  CHECK(project.result(first.result).outcome == ResultOutcome::success);
  CHECK(project.result(second.result).outcome == ResultOutcome::didnt_need);
  project.report(users[1], project.take(users[1]));
  CHECK(project.unit_of(first.result).state == WorkunitState::assimilated);
}

TEST_CASE("a damaged task that hosts fail at pauses its run") {
  ProjectFixture project(on_disk("vc-asgd"));
  std::vector<Volunteer> users = {project.join(), project.join(),
                                  project.join()};
  Assignment first = project.take(users[0]);
  SqliteConnection store(project.state().folder.database());
  store.execute(
      "CREATE TABLE kept AS SELECT * FROM sealed_tasks;"
      "UPDATE sealed_tasks SET bytes = zeroblob(length(bytes))");
  project.job([&] {
    project.daemons().transitioner.on_failed(users[0].host, first.result,
                                             "bad");
    project.daemons().assimilator.pass(project.run());
  });
  CHECK(project.run().run.state == RunState::paused);
  CHECK(project.run().run.state_reason.find("its task changed on disk") !=
        std::string::npos);
  store.execute(
      "UPDATE sealed_tasks SET bytes = (SELECT bytes FROM kept WHERE "
      "kept.workunit = sealed_tasks.workunit); DROP TABLE kept");
  project.reopen();
  project.job([&] { project.run().run.state = RunState::running; });
  project.train_to_end(users);
  CHECK(project.run().run.state == RunState::finished);
  check_ledger(project);
}

TEST_CASE("what was not committed has not happened, and can happen again") {
  for (const char* rule : {"vc-asgd", "diloco"}) {
    CAPTURE(rule);
    ProjectFixture project(on_disk(rule));
    std::vector<Volunteer> users = {project.join(), project.join(),
                                    project.join()};
    for (bool any = true; any;) {
      any = false;
      for (const Volunteer& who : users) {
        WorkAnswer reply = project.ask(who);
        if (reply.assignments.empty()) continue;
        any = true;
        Assignment one = reply.assignments[0];
        SignedHeader header = project.upload(who, one);
        OpenResult open = project.state().open_results.find(one.result).value();
        ScreenedReport report = project.daemons().reports.screen(open, header);
        std::size_t entries = project.ledger().size();
        project.crash_during([&] {
          project.daemons().reports.store(who.host, one.result, report);
        });
        CHECK(project.ledger().size() == entries);
        CHECK(project.result(one.result).server_state ==
              ServerState::in_progress);
        // The host has no answer and reports again; the payload too.
        CHECK(project.report(who, one).accepted);
      }
    }
    project.train_to_end(users);
    CHECK(project.run().run.state == RunState::finished);
    check_ledger(project);
  }
}

TEST_CASE("leases start anew after a restart") {
  ProjectFixture project(on_disk("vc-asgd"));
  Volunteer ann = project.join();
  Assignment one = project.take(ann);
  project.clock.advance(Seconds(19));
  project.reopen();
  project.pass(Seconds(19));
  CHECK(project.result(one.result).server_state == ServerState::in_progress);
  project.pass(Seconds(1));
  CHECK(project.result(one.result).outcome == ResultOutcome::no_reply);
}

TEST_CASE("a lost assignment is sent again after a restart, the same") {
  ProjectFixture project(on_disk("vc-asgd"));
  Volunteer ann = project.join();
  Assignment one = project.take(ann);
  project.reopen();
  Assignment again = project.take(ann);
  CHECK(again.result == one.result);
  CHECK(again.nonce == one.nonce);
  CHECK(again.objects == one.objects);
}

TEST_CASE("what a house worker had when the server died goes to another") {
  ProjectOptions options = on_disk("vc-asgd");
  options.house_workers = 1;
  ProjectFixture project(options);
  Assignment lost = project.take_as_house();
  project.reopen();
  project.pass(Seconds(0));
  CHECK(project.result(lost.result).outcome == ResultOutcome::no_reply);
  CHECK(project.state().hosts.hosts().size() == 1);  // the same house host
}

TEST_CASE("a tie that waits for a house worker still does after a restart") {
  ProjectOptions options = on_disk("vc-asgd");
  options.house_workers = 1;
  ProjectFixture project(options);
  Volunteer ann = project.join(), mallory = project.join();
  Assignment a = project.take(ann), m = project.take(mallory);
  project.report(ann, a);
  project.report(mallory, m, test::lie());
  project.reopen();
  Assignment decisive = project.take_as_house();
  CHECK(project.unit_of(decisive.result).id == project.unit_of(a.result).id);
  project.report(project.house(), decisive);
  CHECK(project.host(ann).valid == 1);
  CHECK(project.host(mallory).invalid == 1);
}

TEST_CASE("reports that waited for a verdict get it after a restart") {
  // The validator's role was off; then the server starts with all roles.
  ProjectOptions options = on_disk("vc-asgd");
  options.roles = parse_roles("scheduler");
  ProjectFixture project(options);
  Volunteer ann = project.join(), bob = project.join();
  Assignment a = project.take(ann), b = project.take(bob);
  project.report(ann, a);
  project.report(bob, b);
  project.reopen();
  CHECK(project.unit_of(a.result).state == WorkunitState::open);
  project.job([&] { project.daemons().transitioner.look_at_all(); });
  project.job([&] { project.daemons().assimilator.pass_all(); });
  CHECK(project.unit_of(a.result).state == WorkunitState::assimilated);
  check_ledger(project);
}

}  // namespace quorate

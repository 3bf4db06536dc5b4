// The file deleter's sweep: what goes, and what never does.
#include <doctest/doctest.h>

#include "base/error.h"
#include "server/objects/file_deleter.h"
#include "server/store/sqlite/connection.h"
#include "tests/server/project_fixture.h"

namespace quorate {
namespace {

using test::check_ledger;
using test::ProjectFixture;
using test::ProjectOptions;
using test::Volunteer;

constexpr int kLong = 40;  // days; longer than payloads are kept

ProjectOptions on_disk(const char* rule = "vc-asgd") {
  ProjectOptions options;
  options.rule = rule;
  options.round_units = 3;
  options.on_disk = true;
  return options;
}

void age(ProjectFixture& project, const Hash& object, int days) {
  const ObjectStore& objects = project.state().objects;
  fs::last_write_time(objects.path(object),
                      objects.now() - std::chrono::hours(24 * days));
}

void age_all(ProjectFixture& project, int days) {
  std::vector<Hash> all;
  project.state().objects.list(
      [&](const ObjectReader::Found& found) { all.push_back(found.hash); });
  for (const Hash& hash : all) age(project, hash, days);
}

void sweep(ProjectFixture& project) {
  FileDeleter(project.state(), project.writer(), project.uploads()).sweep();
}

bool has(ProjectFixture& project, const Hash& object) {
  return project.state().objects.contains(object);
}

// The payload of a result that is in no ledger and whose unit is closed.
Hash rejected_payload(ProjectFixture& project) {
  Volunteer ann = project.join(), mallory = project.join(),
            bob = project.join();
  Assignment one = project.take(ann);
  Assignment other = project.take(mallory);
  REQUIRE(project.unit_of(one.result).id == project.unit_of(other.result).id);
  project.report(ann, one);
  project.report(mallory, other, test::lie());
  project.report(bob, project.take(bob));
  REQUIRE(project.result(other.result).validate_state ==
          ValidateState::invalid);
  return project.result(other.result).update;
}

// Updates of the run that are there.
std::size_t updates(ProjectFixture& project) {
  std::size_t count = 0;
  for (const ResultAssimilated& entry : project.assimilated()) {
    count += has(project, entry.update) ? 1 : 0;
  }
  return count;
}

LedgerSources sources_of(ProjectFixture& project) {
  LedgerSources sources = project.ledger_sources();
  sources.is_removed = [&](const Hash& update) {
    return !has(project, update) && project.run().run.updates_removed != 0;
  };
  return sources;
}

// A run of 5 units that has ended, a day ago.
void end_run(ProjectFixture& project) {
  project.train_to_end({project.join(), project.join()});
  REQUIRE(project.run().run.state == RunState::finished);
  project.clock.advance(Seconds(86'401));
}

}  // namespace

TEST_CASE("a payload of no ledger goes when its time is over") {
  ProjectFixture project(on_disk());
  const Hash payload = rejected_payload(project);
  for (int days : {0, 29}) {
    age(project, payload, days);
    sweep(project);
    CHECK(has(project, payload));
  }
  age(project, payload, 31);
  SUBCASE("not if it is kept for ever") {
    project.settings.keep_payloads_days = 0;
  }
  SUBCASE("not while a backup copies the objects") {
    FileLock backup(project.state().folder.backup_lock());
    sweep(project);
  }
  SUBCASE("not while a data set is added") {
    FileLock adding(project.state().folder.datasets_lock());
    sweep(project);
  }
  SUBCASE("not in a sweep that finds that the clock has jumped") {
    FileDeleter deleter(project.state(), project.writer(), project.uploads());
    project.settings.keep_payloads_days = 100;
    deleter.sweep();
    project.settings.keep_payloads_days = 30;
    project.clock.advance(Seconds(3600));
    deleter.sweep();
  }
  CHECK(has(project, payload));
  if (project.settings.keep_payloads_days == 0) {
    sweep(project);
    CHECK(has(project, payload));
    return;
  }
  sweep(project);
  CHECK_FALSE(has(project, payload));
  check_ledger(project);
}

TEST_CASE("a payload of no ledger goes earlier beyond their quota") {
  ProjectFixture project(on_disk());
  const Hash payload = rejected_payload(project);
  bool goes = false;
  SUBCASE("not within it") {}
  SUBCASE("when the disk is full") {
    project.settings.disk_reserve_mb = std::uint64_t{1} << 40;
    goes = true;
  }
  sweep(project);
  CHECK(has(project, payload));  // somebody may use it right now
  age(project, payload, 1);
  sweep(project);
  CHECK(has(project, payload) == !goes);
}

TEST_CASE("what nobody names goes after an hour") {
  ProjectFixture project(on_disk());
  project.settings.keep_payloads_days = 0;
  const Hash unnamed = project.state().objects.put(as_bytes("nobody's"));
  sweep(project);
  CHECK(has(project, unnamed));
  age(project, unnamed, 1);
  sweep(project);
  CHECK_FALSE(has(project, unnamed));
}

TEST_CASE("a payload that may still count stays, however old") {
  ProjectFixture project(on_disk());
  Volunteer ann = project.join(), bob = project.join();
  Assignment a = project.take(ann), b = project.take(bob);
  SignedHeader header = project.upload(ann, a);
  const Hash update = decode_result_header(header.bytes).claim.update;
  age(project, update, kLong);
  SUBCASE("uploaded, and not reported") {
    sweep(project);
  }
  SUBCASE("reported, and not decided") {
    project.send(ann, a.result, header);
    age(project, update, kLong);
    sweep(project);
  }
  SUBCASE("reported, and not decided before the server's restart") {
    project.send(ann, a.result, header);
    age(project, update, kLong);
    project.reopen();
    sweep(project);
  }
  CHECK(has(project, update));
  project.report(ann, a);
  project.report(bob, b);
  CHECK(project.unit_of(a.result).state == WorkunitState::assimilated);
  check_ledger(project);
}

// A witness sends no payload: the server finds one that is there, whosever it
// was, before the result is stored.
TEST_CASE("a payload that was found for a report is not swept before it") {
  ProjectFixture project(on_disk());
  Volunteer ann = project.join(), bob = project.join();
  Assignment a = project.take(ann), b = project.take(bob);
  REQUIRE(project.result(b.result).is_witness);
  const TrainingResult computed = project.compute(b);
  project.state().objects.put(computed.update);  // once rejected, say
  age(project, computed.claim.update, kLong);
  test::Forgery no_payload;
  no_payload.upload = Bytes();
  const SignedHeader header = project.upload(bob, b, no_payload);
  const OpenResult open = project.state().open_results.find(b.result).value();
  bool was_there = true;
  SUBCASE("looked for before the sweep") {}
  SUBCASE("swept before it was looked for") {
    sweep(project);
    was_there = false;
  }
  const ScreenedReport report = project.daemons().reports.screen(open, header);
  CHECK(report.awaits_payload != was_there);
  sweep(project);
  CHECK(has(project, computed.claim.update) == was_there);
  project.job(
      [&] { project.daemons().reports.store(bob.host, b.result, report); });
  age_all(project, kLong);
  sweep(project);
  project.report(ann, a);
  CHECK(project.unit_of(a.result).state == WorkunitState::assimilated);
  CHECK(project.result(b.result).validate_state == ValidateState::valid);
  check_ledger(project);
}

TEST_CASE("the newest snapshot stays while no unit is based on it") {
  ProjectOptions options = on_disk();
  options.quorum = 1;
  ProjectFixture project(options);
  Volunteer ann = project.join();
  project.report(ann, project.take(ann));
  const Assignment cancelled = project.take(ann);
  const Hash snapshot = cancelled.objects.at(1).hash;
  REQUIRE(snapshot != project.run().published_hash);
  const WorkunitId unit = project.unit_of(cancelled.result).id;
  project.job(
      [&] { project.daemons().transitioner.close(unit, Closing::run_ended); });
  REQUIRE(project.state().feeder.units().empty());
  age_all(project, kLong);
  sweep(project);
  const Assignment next = project.take(ann);
  CHECK(next.objects.at(1).hash == snapshot);
  CHECK(has(project, snapshot));
}

TEST_CASE("what a host copied stays as long as anybody else needs it") {
  ProjectFixture project(on_disk());
  std::vector<Volunteer> users = {project.join(), project.join()};
  project.train_to_end(users);
  const Hash recorded = project.assimilated().at(0).update;
  const Hash shard = project.run().dataset.test.at(0).hash;
  const Hash snapshot = project.run().published_hash;
  // As if results that were rejected had had the same bytes.
  Result copy = project.result(project.assimilated().at(1).result);
  copy.validate_state = ValidateState::invalid;
  project.job([&] {
    for (const Hash& hash : {recorded, shard, snapshot}) {
      copy.update = hash;
      project.state().store.insert_results({&copy, 1});
    }
  });
  age_all(project, kLong);
  sweep(project);
  for (const Hash& hash : {recorded, shard, snapshot}) {
    CHECK(has(project, hash));
  }
  check_ledger(project);
}

TEST_CASE("bases of the results that a restart applies again stay") {
  ProjectOptions options = on_disk();
  options.quorum = 1;
  options.evaluate_every_versions = 100;
  ProjectFixture project(options);
  Volunteer ann = project.join();
  for (int i = 0; i < 3; ++i) project.report(ann, project.take(ann));
  REQUIRE(project.run().published_version == 0);
  age_all(project, kLong);
  sweep(project);
  project.reopen();
  CHECK(project.run().is_loaded);
  project.train_to_end({ann});
  CHECK(project.run().run.state == RunState::finished);
  check_ledger(project);
}

// Every object is old at every moment, so that only its use keeps it.
TEST_CASE("sweeps and restarts at every point of a run's life do no harm") {
  for (const char* rule : {"vc-asgd", "diloco"}) {
    CAPTURE(rule);
    ProjectOptions options = on_disk(rule);
    options.evaluate_every_versions = 4;
    ProjectFixture project(options);
    std::vector<Volunteer> users;
    for (int i = 0; i < 4; ++i) users.push_back(project.join());
    // What was held for a host before a restart is drawn anew a while later.
    auto restart = [&] {
      project.reopen();
      // One that has ended is not.
      REQUIRE(project.run().is_loaded == project.run().is_active());
      for (const Volunteer& who : users) project.heartbeat(who, {});
      project.pass(project.settings.heartbeat);
    };
    int turn = 0;
    for (bool any = true; any;) {
      any = false;
      for (const Volunteer& who : users) {
        WorkAnswer reply = project.ask(who);
        if (reply.assignments.empty()) continue;
        any = true;
        age_all(project, kLong);
        sweep(project);
        if (++turn % 2 == 0) restart();
        project.report(who, reply.assignments[0]);
        age_all(project, kLong);
        sweep(project);
        if (turn % 3 == 0) restart();
      }
    }
    CHECK(turn >= 6);
    project.train_to_end(users);
    CHECK(project.run().run.state == RunState::finished);
    check_ledger(project);
  }
}

TEST_CASE("sealed tasks that an earlier version left as files stay") {
  ProjectFixture project(on_disk());
  std::vector<Volunteer> users = {project.join(), project.join()};
  project.report(users[0], project.take(users[0]));
  {
    SqliteConnection store(project.state().folder.database());
    {
      Query tasks = store.query("SELECT bytes FROM sealed_tasks");
      while (tasks.next()) project.state().objects.put(tasks.blob());
    }
    store.execute("DELETE FROM sealed_tasks");
  }
  project.train_to_end(users);
  age_all(project, kLong);
  sweep(project);
  check_ledger(project);
}

TEST_CASE("recorded updates stay for ever, unless the operator says how long") {
  ProjectFixture project(on_disk());
  end_run(project);
  age_all(project, kLong);
  SUBCASE("for ever") {
    sweep(project);
  }
  SUBCASE("for longer") {
    project.settings.keep_updates_days = 2;
    sweep(project);
  }
  CHECK(updates(project) == 5);
  CHECK(project.run().run.updates_removed == 0);
  // What is missing now is damage.
  project.state().objects.remove(project.assimilated().at(2).update);
  const LedgerReport report = verify_ledger(sources_of(project));
  CHECK(report.first_difference.find("missing") != std::string::npos);
}

TEST_CASE("a run that goes on keeps its updates, and so does an open round") {
  for (const char* rule : {"vc-asgd", "diloco"}) {
    CAPTURE(rule);
    ProjectFixture project(on_disk(rule));
    project.settings.keep_updates_days = 1;
    project.settings.keep_payloads_days = 1;
    std::vector<Volunteer> users = {project.join(), project.join()};
    for (int i = 0; i < 2; ++i) {
      Assignment a = project.take(users[0]), b = project.take(users[1]);
      project.report(users[0], a);
      project.report(users[1], b);
    }
    project.job([&] { project.run().run.state = RunState::paused; });
    project.clock.advance(Seconds(86'400 * 100));
    age_all(project, 100);
    sweep(project);
    project.job([&] { project.run().run.state = RunState::running; });
    project.reopen();
    project.train_to_end({project.join(), project.join()});
    CHECK(project.run().run.state == RunState::finished);
    check_ledger(project);
  }
}

TEST_CASE("updates of a run that has ended go when the operator says so") {
  ProjectFixture project(on_disk());
  project.settings.keep_updates_days = 1;
  end_run(project);
  const std::vector<ResultAssimilated> entries = project.assimilated();
  Workunit revoked = project.unit_of(entries.at(3).result);
  project.job([&] {
    revoked.check = UnitCheck::revoked;
    project.state().store.update_workunits({&revoked, 1});
  });
  SUBCASE("at once") {}
  SUBCASE("though the server was killed when it had begun") {
    project.job([&] {
      project.run().run.updates_removed = 1;
      project.state().store.update_run(project.run().run);
    });
    project.reopen();
  }
  SUBCASE("not before an hour is over since somebody used them") {
    age_all(project, 0);
    sweep(project);
    CHECK(project.run().run.updates_removed != 0);
    CHECK(updates(project) == 5);
    project.reopen();
  }
  age_all(project, 1);
  sweep(project);
  CHECK(project.run().run.updates_removed != 0);
  // Of a revoked one nobody can compute the same again.
  CHECK(updates(project) == 1);
  CHECK(has(project, entries.at(3).update));

  LedgerReport report = verify_ledger(sources_of(project));
  CHECK(report.first_difference == "");
  CHECK(report.results == 5);
  CHECK(report.updates_removed == 4);
  try {
    replay(sources_of(project));
    FAIL("it cannot be replayed");
  } catch (const Error& error) {
    CHECK(error.kind() == ErrorKind::unsupported);
    CHECK(std::string(error.what()).find("replay --recompute") !=
          std::string::npos);
  }
  project.reopen();
  CHECK(project.run().run.state == RunState::finished);
  // What else is missing is damage.
  project.state().objects.remove(project.run().published_hash);
  report = verify_ledger(sources_of(project));
  CHECK(report.first_difference.find("published model") != std::string::npos);
}

TEST_CASE("a changed update is damage, removed or not") {
  ProjectFixture project(on_disk());
  end_run(project);
  project.job([&] { project.run().run.updates_removed = 1; });
  const fs::path file =
      project.state().objects.path(project.assimilated().at(0).update);
  Bytes bytes = read_file(file);
  bytes.back() ^= 1;
  write_file_durably(file, bytes);
  const LedgerReport report = verify_ledger(sources_of(project));
  CHECK(report.first_difference.find("changed on disk") != std::string::npos);
}

TEST_CASE("who does not know all that is needed removes nothing") {
  ProjectFixture project(on_disk());
  const Hash payload = rejected_payload(project);
  age_all(project, kLong);
  write_file_durably(project.state().folder.manifest("odd"), as_bytes("{"));
  CHECK_THROWS_AS(sweep(project), Error);
  CHECK(has(project, payload));
}

TEST_CASE("what the folder holds is counted, each object once") {
  ProjectFixture project(on_disk());
  const Hash payload = rejected_payload(project);
  project.state().objects.put(as_bytes("nobody's"));
  sweep(project);
  std::map<std::string, StorageRow> rows;
  std::uint64_t objects = 0;
  for (const StorageRow& row : project.state().storage) {
    CHECK(rows.emplace(row.what, row).second);
  }
  for (const char* what :
       {"payloads", "unnamed", "updates", "snapshots", "shards"}) {
    objects += rows[what].bytes;
  }
  CHECK(rows["payloads"].run == "digits");
  CHECK(rows["payloads"].bytes == project.state().objects.size_of(payload));
  CHECK(rows["updates"].count == 1);
  CHECK(rows["updates"].run == "digits");
  CHECK(rows["shards"].count == 2);
  CHECK(rows["unnamed"].bytes == 8);
  CHECK(rows["unnamed"].run == "");
  CHECK(rows["tasks"].is_in_store);
  CHECK(rows["tasks"].count ==
        project.state().store.totals(project.run().run.key).units_made);
  CHECK(rows["store"].bytes > rows["tasks"].bytes);
  CHECK(total_bytes(project.state().storage) == objects + rows["store"].bytes +
                                                    rows["uploads"].bytes +
                                                    rows["other files"].bytes);

  age(project, payload, kLong);
  sweep(project);
  for (const StorageRow& row : project.state().storage) {
    if (row.what == "payloads") CHECK(row.count == 0);
  }
}

}  // namespace quorate

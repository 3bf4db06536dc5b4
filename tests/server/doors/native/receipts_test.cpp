#include "server/doors/native/receipts.h"

#include <doctest/doctest.h>

#include "tests/server/project_fixture.h"

namespace quorate {
namespace {

using test::ProjectFixture;
using test::ProjectOptions;
using test::Volunteer;

Receipt receipt(ProjectFixture& project, const Volunteer& who) {
  Receipt found;
  project.job([&] {
    ProjectState& state = project.state();
    found = open_receipt(
        seal_receipt(receipt_of(state, who.host), state.keys.project), "test");
  });
  return found;
}

TEST_CASE("a receipt has what the host did, and where the ledger stood") {
  ProjectFixture project;
  Volunteer ann = project.join(), bob = project.join();
  project.report(ann, project.take(ann));
  CHECK(receipt(project, ann).runs.empty());  // nobody has agreed yet

  project.report(bob, project.take(bob));
  const Receipt found = receipt(project, ann);
  CHECK(found.keys.project == project.state().keys.id);
  CHECK(found.project == project.settings.name);
  CHECK(found.host == ann.key.public_key());
  CHECK(found.user == ann.account.public_key());
  CHECK(found.when == project.clock.unix_ms());
  CHECK(found.credit_thousandths ==
        static_cast<std::uint64_t>(1000 * project.host(ann).credit));
  REQUIRE(found.runs.size() == 1);
  const ReceiptRun& run = found.runs[0];
  CHECK(run.run == project.run().run.id);
  CHECK(run.name == project.run().run.name);
  CHECK(run.state == "running");
  CHECK(run.results == 1);
  CHECK(run.first_version == 1);
  CHECK(run.last_version == 1);
  CHECK(run.ledger_entries == project.ledger().size());
  CHECK(run.ledger_head == project.run().last_hash);
}

TEST_CASE("a receipt of a run that has ended says so, also after a restart") {
  ProjectOptions options;
  options.on_disk = true;
  ProjectFixture project(options);
  Volunteer ann = project.join(), bob = project.join();
  project.train_to_end({ann, bob});
  const Receipt before = receipt(project, ann);
  REQUIRE(before.runs.size() == 1);
  CHECK(before.runs[0].state == "finished");
  CHECK(before.runs[0].results == project.assimilated().size());
  CHECK(before.runs[0].ledger_entries == project.ledger().size());
  project.reopen();
  const Receipt after = receipt(project, ann);
  REQUIRE(after.runs.size() == 1);
  CHECK(after.runs[0].ledger_entries == before.runs[0].ledger_entries);
  CHECK(after.runs[0].ledger_head == before.runs[0].ledger_head);
}

}  // namespace
}  // namespace quorate

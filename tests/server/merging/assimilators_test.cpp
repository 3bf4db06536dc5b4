// Several assimilators of a run, whose work is done when the test says so.
#include <algorithm>
#include <deque>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include "tests/server/project_fixture.h"

namespace quorate {
namespace {

using test::check_ledger;
using test::ProjectFixture;
using test::Volunteer;

class HandHelpers final : public StepHelpers {
 public:
  explicit HandHelpers(ProjectFixture& project) : project_(project) {
    attach();
  }
  ~HandHelpers() override {
    project_.daemons().assimilator.set_helpers(nullptr);
  }

  // Also after a restart, of which nothing is left.
  void attach() {
    waiting_.clear();
    project_.daemons().assimilator.set_helpers(this);
    project_.job([] {});
  }
  bool help(const Run& run) const override { return run.assimilators > 1; }
  void start(StepPart part, const Run&, WorkunitId, Job work,
             Job done) override {
    waiting_.push_back({part, std::move(work), std::move(done)});
  }

  std::size_t count(StepPart part) const {
    return static_cast<std::size_t>(
        std::count_if(waiting_.begin(), waiting_.end(),
                      [&](const Waiting& one) { return one.part == part; }));
  }
  // All that wait for this part by now, first or last of them first.
  void finish(StepPart part, bool last_first = false) {
    std::deque<Waiting> taken;
    std::deque<Waiting> rest;
    for (Waiting& one : waiting_) {
      (one.part == part ? taken : rest).push_back(std::move(one));
    }
    waiting_ = std::move(rest);
    while (!taken.empty()) {
      Waiting one = std::move(last_first ? taken.back() : taken.front());
      last_first ? taken.pop_back() : taken.pop_front();
      one.work();
      project_.job([&] { one.done(); });
    }
  }
  void finish_all() {
    while (!waiting_.empty()) {
      finish(StepPart::prepare);
      finish(StepPart::step);
    }
  }

 private:
  struct Waiting {
    StepPart part;
    Job work;
    Job done;
  };
  ProjectFixture& project_;
  std::deque<Waiting> waiting_;
};

test::ProjectOptions shared(Consistency consistency, bool on_disk = false) {
  return {.quorum = 1,
          .epochs = 2,
          .assimilators = 3,
          .consistency = consistency,
          .evaluate_every_versions = 100,
          .on_disk = on_disk};
}

// Each of `count` volunteers takes a unit; then they report.
void report_units(ProjectFixture& project, std::size_t count) {
  std::vector<std::pair<Volunteer, Assignment>> taken;
  for (std::size_t i = 0; i < count; ++i) {
    const Volunteer who = project.join();
    taken.emplace_back(who, project.take(who));
  }
  for (const auto& [who, assignment] : taken) {
    CHECK(project.report(who, assignment).accepted);
  }
}

std::vector<std::optional<std::uint64_t>> versions_read(
    ProjectFixture& project) {
  std::vector<std::optional<std::uint64_t>> read;
  for (const ResultAssimilated& entry : project.assimilated()) {
    read.push_back(entry.read_version);
  }
  return read;
}

using Read = std::vector<std::optional<std::uint64_t>>;
constexpr auto kNewest = std::nullopt;

}  // namespace

TEST_CASE(
    "eventual: assimilators overwrite what others wrote since they read") {
  ProjectFixture project(shared(Consistency::eventual));
  HandHelpers helpers(project);
  report_units(project, 4);
  CHECK(helpers.count(StepPart::prepare) == 3);  // as many as assimilators
  CHECK(project.run().model.version() == 0);
  helpers.finish(StepPart::prepare, true);  // but they begin in order
  CHECK(helpers.count(StepPart::step) == 3);
  helpers.finish(StepPart::step, true);  // and are written in order
  CHECK(project.run().model.version() == 3);
  CHECK(versions_read(project) == Read{kNewest, 0, 0});
  CHECK(project.run().overwritten == 2);
  helpers.finish_all();
  CHECK(versions_read(project) == Read{kNewest, 0, 0, kNewest});
  CHECK(project.run().overwritten == 2);
  for (const ResultAssimilated& entry : project.assimilated()) {
    const HostId host = project.result(entry.result).host;
    // also that of those that were overwritten
    CHECK(project.state().hosts.host(host)->credit > 0);
  }
  check_ledger(project);
}

TEST_CASE("strong: a step begins when the one before it is written") {
  ProjectFixture project(shared(Consistency::strong));
  HandHelpers helpers(project);
  report_units(project, 4);
  helpers.finish(StepPart::prepare);
  CHECK(helpers.count(StepPart::step) == 1);
  helpers.finish_all();
  CHECK(versions_read(project) == Read{kNewest, kNewest, kNewest, kNewest});
  CHECK(project.run().overwritten == 0);
  check_ledger(project);
}

TEST_CASE("a published version is not overwritten") {
  test::ProjectOptions options = shared(Consistency::eventual);
  options.evaluate_every_versions = 2;
  ProjectFixture project(options);
  HandHelpers helpers(project);
  report_units(project, 6);
  helpers.finish(StepPart::prepare);
  helpers.finish(StepPart::step);  // those under way are written first
  CHECK(project.run().model.version() == 3);
  CHECK(project.run().published_version == 3);
  helpers.finish_all();
  CHECK(project.run().model.version() == 6);
  check_ledger(project);
}

TEST_CASE("steps that were under way begin anew after a crash") {
  ProjectFixture project(shared(Consistency::eventual, true));
  {
    HandHelpers helpers(project);
    report_units(project, 4);
    helpers.finish(StepPart::prepare);
    helpers.finish(StepPart::step);  // the fourth is prepared
    helpers.finish(StepPart::prepare);
    CHECK(project.run().model.version() == 3);
    project.reopen();
    CHECK(project.run().model.version() == 4);  // by the writer's thread
    check_ledger(project);
    report_units(project, 2);
    helpers.attach();
    helpers.finish_all();
    CHECK(project.run().model.version() == 6);
  }
  check_ledger(project);
}

TEST_CASE("a run that is stopped forgets the steps under way") {
  ProjectFixture project(shared(Consistency::eventual));
  HandHelpers helpers(project);
  report_units(project, 2);
  helpers.finish(StepPart::prepare);
  project.job([&] {
    project.daemons().assimilator.end(project.run(), RunState::stopped);
  });
  helpers.finish_all();
  CHECK(project.run().model.version() == 0);
  CHECK(project.assimilated().empty());
  check_ledger(project);
}

}  // namespace quorate

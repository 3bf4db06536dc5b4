// What the operator decides about single results and workunits.
#include "server/orders/result_orders.h"

#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "server/page/status.h"
#include "tests/server/project_fixture.h"

namespace quorate {
namespace {

using nlohmann::json;
using test::check_ledger;
using test::check_memory;
using test::lie;
using test::ProjectFixture;
using test::ProjectOptions;
using test::Volunteer;

using Order = json (*)(ProjectState&, Daemons&, const json&);

json give(ProjectFixture& project, Order order, json arguments) {
  if (!arguments.contains("why")) arguments["why"] = "a test";
  json row;
  project.job(
      [&] { row = order(project.state(), project.daemons(), arguments); });
  return row;
}

json give_on_result(ProjectFixture& project, Order order, ResultId id) {
  return give(project, order, {{"result", id}});
}

json give_on_unit(ProjectFixture& project, Order order, WorkunitId id) {
  return give(project, order, {{"workunit", id}});
}

std::string objection(ProjectFixture& project, Order order,
                      const json& arguments) {
  try {
    give(project, order, arguments);
  } catch (const Error& error) {
    CHECK(error.kind() == ErrorKind::usage);
    return error.what();
  }
  return "not refused";
}

bool is_about(const std::string& text, const std::string& part) {
  const bool has = text.find(part) != text.npos;
  if (!has) MESSAGE(text);
  return has;
}

ProjectOptions options_with(std::uint32_t quorum) {
  ProjectOptions options;
  options.quorum = quorum;
  options.on_disk = true;
  return options;
}

// Two units make a round: each is validated before it is in the model.
ProjectOptions in_rounds(std::uint32_t quorum) {
  ProjectOptions options = options_with(quorum);
  options.rule = "diloco";
  options.round_units = 2;
  return options;
}

}  // namespace

TEST_CASE("a reported result is rejected, and its unit goes on") {
  ProjectFixture project(options_with(2));
  const Volunteer liar = project.join();
  const Assignment lied = project.take(liar);
  CHECK(project.report(liar, lied, lie()).accepted);
  const json row = give_on_result(project, reject_result, lied.result);
  CHECK(row["workunit_state"] == "open");
  CHECK(row["result_state"] == "invalid");
  check_memory(project);
  project.reopen();
  const Result rejected = project.result(lied.result);
  CHECK(rejected.validate_state == ValidateState::invalid);
  CHECK(rejected.reason == "rejected by the operator: a test");
  CHECK(project.host(liar).invalid == 1);
  CHECK(project.host(liar).false_results == 0);
  CHECK(is_about(objection(project, reject_result, {{"result", lied.result}}),
                 "is invalid"));

  const Volunteer one = project.join();
  const Volunteer two = project.join();
  const Assignment first = project.take(one);
  const Assignment second = project.take(two);
  CHECK(project.unit_of(first.result).id == rejected.workunit);
  project.report(one, first);
  project.report(two, second);
  CHECK(project.unit_of(lied.result).state == WorkunitState::assimilated);
  check_ledger(project);
}

TEST_CASE("a verdict of an open round is taken back with a rejected result") {
  ProjectFixture project(in_rounds(2));
  const Volunteer one = project.join();
  const Volunteer two = project.join();
  const Assignment first = project.take(one);
  const Assignment second = project.take(two);
  project.report(one, first);
  project.report(two, second);
  const WorkunitId id = project.result(first.result).workunit;
  REQUIRE(project.unit_of(first.result).state == WorkunitState::validated);
  const double credit = project.host(two).credit;
  CHECK(credit > 0);

  give_on_result(project, reject_result, first.result);
  check_memory(project);
  project.reopen();
  CHECK(project.unit_of(first.result).state == WorkunitState::open);
  CHECK(project.unit_of(first.result).canonical_result == 0);
  CHECK(project.result(second.result).validate_state == ValidateState::init);
  CHECK(project.host(one).credit == 0);
  CHECK(project.host(one).valid == 0);
  CHECK(project.host(two).credit == 0);

  const Volunteer three = project.join();
  const Assignment third = project.take(three);
  CHECK(project.result(third.result).workunit == id);
  project.report(three, third);
  CHECK(project.unit_of(first.result).state == WorkunitState::validated);
  CHECK(project.unit_of(first.result).canonical_result == second.result);
  CHECK(project.host(two).credit == doctest::Approx(credit));
  CHECK(project.host(one).credit == 0);
  const Volunteer four = project.join();
  project.train_to_end({two, three, four});
  check_ledger(project);
}

TEST_CASE("what cannot be rejected is named, with what can be done") {
  ProjectFixture project(options_with(1));
  const Volunteer who = project.join();
  const Assignment done = project.take(who);
  project.report(who, done);
  const Assignment out = project.take(who);
  CHECK(is_about(objection(project, reject_result, {{"result", out.result}}),
                 "workunit reissue"));
  CHECK(is_about(objection(project, reject_result, {{"result", done.result}}),
                 "result revoke"));
  CHECK(is_about(objection(project, reject_result, {{"result", 999}}),
                 "there is no result 999"));
  CHECK(is_about(
      objection(project, reject_result, {{"result", out.result}, {"why", " "}}),
      "--why"));
  CHECK(is_about(objection(project, reject_result,
                           {{"result", out.result}, {"why", "a\nb"}}),
                 "--why"));
}

TEST_CASE("a result in the model is revoked, and the model is as without it") {
  ProjectFixture project(options_with(1));
  const Volunteer who = project.join();
  std::vector<ResultId> results;
  for (int i = 0; i < 3; ++i) {
    const Assignment assignment = project.take(who);
    project.report(who, assignment);
    results.push_back(assignment.result);
  }
  const double credit = project.host(who).credit;
  std::vector<Job> aside;
  project.daemons().reviser.start_with(
      [&](Job job) { aside.push_back(std::move(job)); });
  const json row = give_on_result(project, revoke_result, results[1]);
  CHECK(row["result_state"] == "invalid");
  CHECK(project.host(who).credit == doctest::Approx(credit * 2 / 3));
  CHECK(project.host(who).mark == HostMark::none);
  CHECK(is_about(objection(project, revoke_result, {{"result", results[1]}}),
                 "already"));
  REQUIRE(aside.size() == 1);
  aside.front()();
  CHECK(project.writer().run_posted());
  const LedgerEntry entry = project.ledger().at(project.ledger().size() - 2);
  const auto& revoked = std::get<Revoked>(entry.body);
  CHECK(revoked.results == std::vector<ResultId>{results[1]});
  CHECK(revoked.reason == "revoked by the operator: a test");
  CHECK(project.unit_of(results[1]).check == UnitCheck::revoked);
  CHECK(is_about(objection(project, revoke_result, {{"result", results[1]}}),
                 "already"));
  check_ledger(project);
}

TEST_CASE("only what is in the model of a run that goes on is revoked") {
  ProjectFixture project(options_with(2));
  const Volunteer one = project.join();
  const Volunteer two = project.join();
  const Assignment first = project.take(one);
  const Assignment second = project.take(two);
  project.report(one, first);
  CHECK(is_about(objection(project, revoke_result, {{"result", first.result}}),
                 "result reject"));
  project.report(two, second);
  CHECK(is_about(objection(project, revoke_result, {{"result", second.result}}),
                 "of the same workunit is in the model"));
  project.job([&] {
    project.daemons().assimilator.end(project.run(), RunState::stopped);
  });
  for (auto* order : {revoke_result, reject_result}) {
    CHECK(is_about(objection(project, order, {{"result", first.result}}),
                   "--without-result"));
  }
  CHECK(
      is_about(objection(project, cancel_workunit,
                         {{"workunit", project.result(first.result).workunit}}),
               "--without-result"));
}

TEST_CASE("a house worker's word accepts a result, or finds it false") {
  for (const bool is_true : {true, false}) {
    CAPTURE(is_true);
    ProjectOptions options = options_with(2);
    options.house_workers = 1;
    ProjectFixture project(options);
    const Volunteer who = project.join();
    const Volunteer other = project.join();
    const Assignment assignment = project.take(who);
    project.report(who, assignment, is_true ? test::Forgery{} : lie());
    give_on_result(project, accept_result, assignment.result);
    give_on_result(project, accept_result, assignment.result);  // no harm
    project.reopen();
    project.heartbeat(other, {});
    project.report(project.house(), project.take_as_house());
    CHECK(project.result(assignment.result).validate_state ==
          (is_true ? ValidateState::valid : ValidateState::invalid));
    CHECK(project.unit_of(assignment.result).state ==
          WorkunitState::assimilated);
    CHECK(is_about(
        objection(project, accept_result, {{"result", assignment.result}}),
        is_true ? "valid already" : "is invalid"));
  }
}

TEST_CASE("without a house worker nothing is accepted") {
  ProjectFixture project(options_with(2));
  const Volunteer who = project.join();
  const Assignment assignment = project.take(who);
  project.report(who, assignment);
  CHECK(is_about(
      objection(project, accept_result, {{"result", assignment.result}}),
      "house_workers"));
}

TEST_CASE("a result that nobody recomputes is in the model, marked") {
  ProjectFixture project(options_with(2));
  const Volunteer who = project.join();
  const Volunteer other = project.join();
  const Assignment out = project.take(who);
  const Assignment taken = project.take(other);
  const json order = {{"result", out.result}, {"unverified", true}};
  CHECK(is_about(objection(project, accept_result, order), "is in_progress"));
  project.report(who, out);
  const json row = give(project, accept_result, order);
  CHECK(row["result_state"] == "valid");
  project.reopen();
  CHECK(project.unit_of(out.result).state == WorkunitState::assimilated);
  CHECK(project.host(who).credit > 0);
  CHECK(project.assimilated().back().is_unverified());
  CHECK(status::run(project.state(), project.run())["unverified_results"] ==
        json{out.result});
  CHECK(is_about(objection(project, accept_result, order), "valid already"));

  // Who had it, too, is judged by it; a false one is for a house worker.
  project.report(other, taken, lie());
  CHECK(project.result(taken.result).validate_state == ValidateState::too_late);
  CHECK(project.unit_of(out.result).check == UnitCheck::recheck);
  CHECK(project.unit_of(out.result).is_unverified);

  std::vector<Job> aside;
  project.daemons().reviser.start_with(
      [&](Job job) { aside.push_back(std::move(job)); });
  give_on_result(project, revoke_result, out.result);
  REQUIRE(!aside.empty());
  aside.front()();
  CHECK(project.writer().run_posted());
  CHECK(project.unit_of(out.result).check == UnitCheck::revoked);
  CHECK(status::run(project.state(), project.run())["unverified"] == 0);
  check_ledger(project);
}

TEST_CASE("the mark waits with its unit for the end of a round") {
  ProjectFixture project(in_rounds(2));
  const Volunteer one = project.join();
  const Assignment first = project.take(one);
  project.report(one, first);
  const json order = {{"result", first.result}, {"unverified", true}};
  CHECK(give(project, accept_result, order)["workunit_state"] == "validated");
  CHECK(status::run(project.state(), project.run())["unverified"] == 0);
  project.reopen();
  SUBCASE("a rejected one loses it") {
    give_on_result(project, reject_result, first.result);
    CHECK(!project.unit_of(first.result).is_unverified);
    return;
  }
  project.train_to_end({project.join(), project.join(), project.join()});
  std::size_t marked = 0;
  for (const ResultAssimilated& entry : project.assimilated()) {
    CHECK(entry.is_unverified() == (entry.result == first.result));
    marked += entry.is_unverified();
  }
  CHECK(marked == 1);
  check_ledger(project);
}

TEST_CASE("nobody's word is taken against what others reported") {
  ProjectFixture project(options_with(3));
  const Volunteer one = project.join();
  const Volunteer two = project.join();
  const Assignment first = project.take(one);
  const Assignment second = project.take(two);
  project.report(one, first);
  project.report(two, second, lie());
  const json order = {{"result", first.result}, {"unverified", true}};
  CHECK(is_about(objection(project, accept_result, order),
                 fmt::format("quorate result reject {}", second.result)));
  give_on_result(project, reject_result, second.result);
  CHECK(give(project, accept_result, order)["result_state"] == "valid");
  CHECK(project.host(two).false_results == 0);
}

TEST_CASE("a cancelled unit is over, and who computes it is told to stop") {
  ProjectFixture project(options_with(1));
  const Volunteer who = project.join();
  const Assignment out = project.take(who);
  const WorkunitId id = project.result(out.result).workunit;
  give_on_unit(project, cancel_workunit, id);
  project.reopen();
  CHECK(project.unit_of(out.result).state == WorkunitState::cancelled);
  CHECK(project.heartbeat(who, {out.result}).cancel ==
        std::vector<ResultId>{out.result});
  CHECK(is_about(objection(project, cancel_workunit, {{"workunit", id}}),
                 "is cancelled"));
  CHECK(is_about(objection(project, cancel_workunit, {{"workunit", 999}}),
                 "there is no workunit 999"));
  project.train_to_end({who});
  CHECK(project.assimilated().size() == 4);
  check_ledger(project);
}

TEST_CASE("a cancelled unit of a round is not merged") {
  ProjectFixture project(in_rounds(1));
  const Volunteer who = project.join();
  const Assignment done = project.take(who);
  project.report(who, done);
  REQUIRE(project.unit_of(done.result).state == WorkunitState::validated);
  give_on_unit(project, cancel_workunit, project.result(done.result).workunit);
  CHECK(project.unit_of(done.result).state == WorkunitState::cancelled);
  project.train_to_end({who, project.join()});
  for (const ResultAssimilated& entry : project.assimilated()) {
    CHECK(entry.result != done.result);
  }
  check_ledger(project);
}

TEST_CASE("a unit is sent anew, also to whoever had it") {
  ProjectFixture project(options_with(2));
  const Volunteer one = project.join();
  const Volunteer two = project.join();
  const Assignment first = project.take(one);
  const Assignment second = project.take(two);
  project.give_up(two, second.result, "no memory");
  const WorkunitId id = project.result(first.result).workunit;
  const json row = give_on_unit(project, reissue_workunit, id);
  CHECK(row["given_up"] == 2);  // one waited for a host
  project.reopen();
  CHECK(project.result(first.result).outcome == ResultOutcome::didnt_need);
  CHECK(project.host(one).errors == 0);
  CHECK(project.heartbeat(one, {first.result}).cancel ==
        std::vector<ResultId>{first.result});
  const Assignment again = project.take(one);
  CHECK(project.result(again.result).workunit == id);
  CHECK(again.result != first.result);
  project.pass(Seconds(10));
  project.report(one, again);
  const Assignment other = project.take(two);
  CHECK(project.result(other.result).workunit == id);
  project.report(two, other);
  CHECK(is_about(objection(project, reissue_workunit, {{"workunit", id}}),
                 "is in the model"));
  // However often: what was given up does not count.
  const Assignment next = project.take(one);
  const WorkunitId next_id = project.result(next.result).workunit;
  for (int i = 0; i < 30; ++i) {
    give_on_unit(project, reissue_workunit, next_id);
  }
  CHECK(project.unit_of(next.result).state == WorkunitState::open);
  check_ledger(project);
}

TEST_CASE("more results are made than the quorum needs") {
  ProjectFixture project(options_with(1));
  const Volunteer one = project.join();
  const Volunteer two = project.join();
  const Assignment first = project.take(one);
  const WorkunitId id = project.result(first.result).workunit;
  CHECK(is_about(objection(project, replicate_workunit,
                           {{"workunit", id}, {"results", 0}}),
                 "--results"));
  give(project, replicate_workunit, {{"workunit", id}, {"results", 2}});
  project.reopen();
  CHECK(project.results_of_unit(id).size() == 3);
  project.heartbeat(two, {});
  const Assignment second = project.take(two);
  CHECK(project.result(second.result).workunit == id);
  project.report(one, first);
  CHECK(project.unit_of(first.result).state == WorkunitState::assimilated);
  project.report(two, second);
  CHECK(project.result(second.result).validate_state == ValidateState::valid);
  CHECK(is_about(objection(project, replicate_workunit,
                           {{"workunit", id}, {"results", 1}}),
                 "is in the model"));
  check_ledger(project);
}

TEST_CASE("a result is revoked while another of its unit is still out") {
  ProjectFixture project(options_with(1));
  const Volunteer one = project.join();
  const Volunteer two = project.join();
  const Assignment first = project.take(one);
  const WorkunitId id = project.result(first.result).workunit;
  give(project, replicate_workunit, {{"workunit", id}, {"results", 1}});
  const Assignment second = project.take(two);
  REQUIRE(project.result(second.result).workunit == id);
  project.report(one, first);
  give_on_result(project, revoke_result, first.result);
  CHECK(project.result(first.result).validate_state == ValidateState::invalid);
  check_memory(project);
  project.report(two, second);
  CHECK(project.host(one).valid == 0);
  CHECK(project.host(one).invalid == 1);
  check_memory(project);
}

TEST_CASE("an order whose transaction is lost has changed nothing") {
  ProjectFixture project(in_rounds(1));
  const Volunteer who = project.join();
  const Assignment done = project.take(who);
  project.report(who, done);
  const json arguments = {{"result", done.result}, {"why", "a test"}};
  project.crash_during(
      [&] { reject_result(project.state(), project.daemons(), arguments); });
  CHECK(project.unit_of(done.result).state == WorkunitState::validated);
  CHECK(project.host(who).credit > 0);
}

}  // namespace quorate

#include "server/orders/by_hand.h"

#include <cmath>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "tests/server/judging/trust_scene.h"
#include "tests/server/project_fixture.h"

namespace quorate {
namespace {

using nlohmann::json;
using test::ProjectFixture;
using test::ProjectOptions;
using test::Volunteer;

ProjectOptions by_hand(ProjectOptions options = {}) {
  options.roles.validator = false;
  options.roles.assimilator = false;
  return options;
}

ProjectOptions one_user_each() {
  ProjectOptions options = by_hand();
  options.quorum = 1;
  return options;
}

json validate(ProjectFixture& project, json arguments = json::object()) {
  json reply;
  project.job([&] {
    reply = validate_by_hand(project.state(), project.daemons(), arguments);
  });
  return reply;
}

json assimilate(ProjectFixture& project, json arguments = json::object()) {
  json reply;
  project.job([&] {
    reply = assimilate_by_hand(project.state(), project.daemons(), arguments);
  });
  return reply;
}

json dry(json arguments = json::object()) {
  arguments["dry_run"] = true;
  return arguments;
}

std::vector<Assignment> report_units(ProjectFixture& project,
                                     std::size_t count) {
  const Volunteer ann = project.join();
  std::vector<Assignment> taken;
  for (std::size_t i = 0; i < count; ++i) {
    taken.push_back(project.take(ann));
    project.report(ann, taken.back());
  }
  return taken;
}

double distance(const std::vector<float>& a, const std::vector<float>& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const double step = static_cast<double>(a[i]) - static_cast<double>(b[i]);
    sum += step * step;
  }
  return std::sqrt(sum);
}

}  // namespace

TEST_CASE("a dry validation says each verdict and changes nothing") {
  ProjectFixture project(by_hand());
  Volunteer ann = project.join(), mallory = project.join(),
            carol = project.join();
  const Assignment honest = project.take(ann);
  const Assignment false_one = project.take(mallory);
  project.report(ann, honest);
  const WorkunitId id = project.unit_of(honest.result).id;
  json row = validate(project, dry({{"workunit", id}}))["units"][0];
  CHECK(row["step"] == "wait");

  project.report(mallory, false_one, test::lie());
  row = validate(project, dry({{"workunit", id}}))["units"][0];
  CHECK(row["step"] == "replicate");
  CHECK(row["says"].get<std::string>().find("results disagree") !=
        std::string::npos);
  CHECK(project.results_of_unit(id).size() == 2);

  validate(project);  // makes the third
  project.report(carol, project.take(carol));
  const json reply = validate(project, dry());
  CHECK(reply["looked_at"] == reply["units"].size());
  row = reply["units"][0];
  CHECK(row["workunit"] == id);
  CHECK(row["run"] == "digits");
  CHECK(row["step"] == "accept");
  CHECK(row["canonical"] == honest.result);
  CHECK(row["valid"].size() == 2);
  CHECK(row["invalid"] == json{false_one.result});
  CHECK(row["may_be_checked"] == false);
  CHECK(project.unit_of(honest.result).state == WorkunitState::open);
  CHECK(project.result(false_one.result).validate_state == ValidateState::init);

  validate(project, {{"workunit", id}});
  CHECK(project.unit_of(honest.result).canonical_result == honest.result);
  CHECK(validate(project, dry({{"workunit", id}}))["units"][0]["says"] ==
        "It waits to be assimilated.");
  CHECK_THROWS_AS(validate(project, dry({{"workunit", 999}})), Error);
}

TEST_CASE("a dry validation draws no spot check, and says that one may be") {
  ProjectOptions options = by_hand(test::trusting(20, 0.5));
  options.quorum = 1;
  ProjectFixture project(options);
  const Volunteer ann = project.join();
  test::become_proven(project, ann);
  const Assignment hers = project.take(ann);
  project.report(ann, hers);
  std::size_t draws = 0;
  project.state().draw = [&] {
    ++draws;
    return std::uint64_t{0};
  };
  const json row = validate(project, dry())["units"][0];
  CHECK(draws == 0);
  CHECK(row["step"] == "accept");
  CHECK(row["may_be_checked"] == true);
  CHECK(row["says"].get<std::string>().find("spot check") != std::string::npos);
}

TEST_CASE("a dry assimilation foretells entries and steps, bit for bit") {
  ProjectFixture project(one_user_each());
  report_units(project, 3);
  validate(project);
  const std::vector<float> start = project.run().model.parameters();
  const json plan = assimilate(project, dry({{"run", "digits"}}))[0];
  CHECK(plan["version_before"] == 0);
  CHECK(plan["version"] == 3);
  REQUIRE(plan["units"].size() == 3);
  CHECK(project.run().model.version() == 0);
  CHECK(project.run().model.parameters() == start);
  CHECK(project.assimilated().empty());
  CHECK(assimilate(project, dry({{"up_to_version", 2}}))[0]["units"].size() ==
        2);

  for (std::size_t i = 0; i < 3; ++i) {
    const std::vector<float> before = project.run().model.parameters();
    const json done = assimilate(project, {{"up_to_version", i + 1}})[0];
    CHECK(done["version"] == i + 1);
    const json& unit = plan["units"][i];
    const ResultAssimilated entry = project.assimilated().back();
    CHECK(unit["result"] == entry.result);
    CHECK(unit["staleness"] == entry.staleness);
    REQUIRE(unit["coefficients"].size() == entry.coefficients.size());
    for (const auto& [name, value] : entry.coefficients) {
      CHECK(unit["coefficients"][name].get<float>() == value);
    }
    CHECK(unit["update_norm"].get<double>() > 0);
    CHECK(unit["step_norm"].get<double>() ==
          distance(project.run().model.parameters(), before));
  }
  check_ledger(project);
}

TEST_CASE("assimilation by hand stops where it is told to") {
  ProjectFixture project(one_user_each());
  const std::vector<Assignment> units = report_units(project, 3);
  validate(project);
  const WorkunitId second = project.unit_of(units[1].result).id;
  assimilate(project, {{"up_to_unit", second}});
  CHECK(project.run().model.version() == 2);
  CHECK(project.unit_of(units[2].result).state == WorkunitState::validated);
  auto refused = [&](const json& arguments, const char* words) {
    CHECK_THROWS_WITH_AS(
        assimilate_by_hand(project.state(), project.daemons(), arguments),
        doctest::Contains(words), Error);
  };
  refused({{"up_to_unit", second}}, "it is assimilated");
  refused({{"up_to_unit", 999}}, "there is no workunit 999");
  refused({{"up_to_version", 2}}, "at version 2 already");
  assimilate(project, {{"up_to_version", 100}});
  CHECK(project.run().model.version() == 3);
  CHECK(assimilate(project)[0]["why_none"] == "no unit is validated");
  check_ledger(project);
}

TEST_CASE("a round is foretold and taken whole") {
  ProjectOptions options = one_user_each();
  options.rule = "diloco";
  options.round_units = 4;
  options.epochs = 2;
  ProjectFixture project(options);
  std::vector<Volunteer> users;
  for (int i = 0; i < 4; ++i) users.push_back(project.join());
  std::vector<Assignment> taken;
  for (const Volunteer& who : users) taken.push_back(project.take(who));
  project.report(users[1], taken[1]);
  validate(project);
  json plan = assimilate(project, dry())[0];
  CHECK(plan["units"].empty());
  CHECK(plan["why_none"] ==
        "round 0 has 1 of the 3 validated units that close it");
  project.report(users[3], taken[3]);
  project.report(users[0], taken[0]);
  validate(project);
  plan = assimilate(project, dry())[0];
  REQUIRE(plan["units"].size() == 3);
  CHECK(plan["units"][0]["unit_index"] == 0);
  CHECK(plan["units"][2]["unit_index"] == 3);
  CHECK(plan["units"][0]["step_norm"].is_null());
  CHECK(plan["units"][2]["step_norm"].get<double>() > 0);
  CHECK(project.run().model.version() == 0);
  const std::vector<float> before = project.run().model.parameters();
  assimilate(project, {{"up_to_unit", project.unit_of(taken[1].result).id}});
  CHECK(project.run().model.version() == 1);
  CHECK(plan["units"][2]["step_norm"].get<double>() ==
        distance(project.run().model.parameters(), before));
  check_ledger(project);
}

}  // namespace quorate

#include "server/orders/unit_view.h"

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "server/cli/unit_text.h"
#include "tests/server/judging/trust_scene.h"
#include "tests/server/project_fixture.h"

namespace quorate {
namespace {

using nlohmann::json;
using test::Forgery;
using test::ProjectFixture;
using test::Volunteer;

// Honest up to the fourth of its eight states.
Forgery leaves_the_path() {
  Forgery forgery = test::lie();
  forgery.result = [lie = forgery.result](TrainingResult& result) {
    for (std::size_t i = 4; i < 8; ++i) {
      result.claim.digests.at(i).bytes[0] ^= 1;
    }
    lie(result);
  };
  return forgery;
}

json shown(ProjectFixture& project, ResultId result) {
  return show_workunit(project.state(), {{"result", result}});
}

bool has(const json& text, const std::string& part) {
  return text.get<std::string>().find(part) != std::string::npos;
}

void check_has(const std::string& text, const std::vector<std::string>& parts) {
  for (const std::string& part : parts) {
    CAPTURE(text);
    CAPTURE(part);
    CHECK(text.find(part) != std::string::npos);
  }
}

// A unit with a false result that a third user's settled.
struct Dispute {
  ProjectFixture project;
  Volunteer ann = project.join(), mallory = project.join(),
            carol = project.join();
  Assignment honest = project.take(ann);
  Assignment false_one = project.take(mallory);

  void report(const Forgery& forgery) {
    project.pass(Seconds(1));
    project.report(ann, honest);
    project.report(mallory, false_one, forgery);
    project.pass(Seconds(1));
    project.heartbeat(carol, {});
    project.report(carol, project.take(carol));
  }
};

}  // namespace

TEST_CASE("where a false claim left the path of the honest ones is shown") {
  Dispute scene;
  scene.report(leaves_the_path());
  const json unit = shown(scene.project, scene.false_one.result);
  REQUIRE(unit["differences"].size() == 1);
  const json& one = unit["differences"][0];
  CHECK(one["result"] == scene.false_one.result);
  CHECK(one["other"] == scene.honest.result);
  CHECK(one["part"] == "state");
  CHECK(one["digest"] == 5);
  CHECK(one["first_step"] == 5);
  CHECK(one["last_step"] == 5);
  check_has(unit_text(unit),
            {"part between steps 5 and 5: digest 5 is the first",
             "2 different claims were made"});
}

TEST_CASE("a claim with the same states and another update says so") {
  Dispute scene;
  scene.report(test::lie());
  const json unit = shown(scene.project, scene.false_one.result);
  REQUIRE(unit["differences"].size() == 1);
  CHECK(unit["differences"][0]["part"] == "update");
  CHECK(unit["differences"][0]["first_step"].is_null());
  check_has(unit_text(unit), {"have the same states; the update differs"});
}

TEST_CASE("a unit shows its results, who vouched, its entry and its times") {
  Dispute scene;
  scene.report(test::lie());
  const json unit = shown(scene.project, scene.honest.result);
  CHECK(unit ==
        show_workunit(scene.project.state(), {{"workunit", unit["id"]}}));
  CHECK(unit["state"] == "assimilated");
  CHECK(has(unit["why"], "a quorum agree"));
  CHECK(unit["canonical_result"] == scene.honest.result);
  CHECK(unit["task"]["steps"] == 8);
  CHECK(unit["task"]["batch"] == 8);
  CHECK(unit["task"]["digest_every"] == 1);
  CHECK(unit["quorum"]["needed"] == 2);
  CHECK(unit["quorum"]["reached"] == 2);
  CHECK(unit["quorum"]["claims"] == 2);
  CHECK(unit["quorum"]["vouchers"].size() == 2);
  CHECK(unit["quorum"]["vouchers"][0]["as"] == "volunteer");
  CHECK(unit["ledger"]["entry"] == 1);
  CHECK(unit["ledger"]["version_after"] == 1);
  CHECK(unit["ledger"]["coefficients"].contains("one_minus_c"));
  CHECK(unit["next"] == "Nothing: it is over.");

  REQUIRE(unit["results"].size() == 3);
  const json& first = unit["results"][0];
  CHECK(first["canonical"] == true);
  CHECK(first["digests"].size() == 8);
  CHECK(first["loss"].get<double>() > 0);
  CHECK(first["samples"] == 64);
  CHECK(first["device"] == "reference");
  CHECK(first["door"] == "native");
  CHECK(unit["results"][1]["validate_state"] == "invalid");

  Millis before = 0;
  std::string story;
  for (const json& moment : unit["timeline"]) {
    CHECK(moment["time"].get<Millis>() >= before);
    before = moment["time"].get<Millis>();
    story += moment["what"].get<std::string>() + "; ";
  }
  check_has(story,
            {"made; ", "sent to", "reported and screened", "judged: result"});
  CHECK(unit["judged"].get<Millis>() - unit["created"].get<Millis>() == 2000);
  CHECK(unit["closed"] == unit["judged"]);
  check_has(unit_text(unit),
            {"Workunit ", "state   assimilated", "2 of 2 users agree",
             "entry 1: version 0 to 1", "8 steps of 8 samples"});
}

TEST_CASE("an open unit says what it waits for") {
  ProjectFixture project;
  Volunteer ann = project.join(), bob = project.join();
  const Assignment first = project.take(ann);
  json unit = shown(project, first.result);
  CHECK(unit["state"] == "open");
  CHECK(unit["ledger"].is_null());
  CHECK(unit["quorum"]["reached"] == 0);
  CHECK(unit["next"] ==
        "It waits for 1 host at work on it and 1 result to be taken by a "
        "host.");
  project.take(bob);
  project.report(ann, first);
  unit = shown(project, first.result);
  CHECK(unit["next"] == "It waits for 1 host at work on it.");
  CHECK(unit["quorum"]["reached"] == 1);
  CHECK(unit["differences"].empty());
  check_has(unit_text(unit), {"1 of 2 users agree", "not in the model"});
}

TEST_CASE("a unit vouched for by the house says so") {
  ProjectFixture project(test::trusting(20, 0));
  const Volunteer eve = project.join();
  const Assignment hers = project.take(eve);
  project.report(eve, hers);
  CHECK(shown(project, hers.result)["quorum"]["needs_anchor"] == true);
  test::house_works(project);
  const json unit = shown(project, hers.result);
  CHECK(has(unit["why"], "house worker"));
  CHECK(unit["check"] == "sound");
  bool has_house = false;
  for (const json& one : unit["quorum"]["vouchers"]) {
    has_house |= one["as"] == "house worker";
  }
  CHECK(has_house);
}

TEST_CASE("who asks for a unit that never was hears what there is") {
  ProjectFixture project;
  project.take(project.join());
  CHECK_THROWS_WITH_AS(
      show_workunit(project.state(), {{"workunit", 999}}),
      doctest::Contains("there is no workunit 999: known open ones are 1"),
      Error);
  CHECK_THROWS_WITH_AS(show_workunit(project.state(), {{"result", 999}}),
                       doctest::Contains("there is no result 999"), Error);
}

}  // namespace quorate

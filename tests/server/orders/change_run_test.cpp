// A run goes on with another rule, and its ledger tells the whole story.
#include "server/orders/runs/change_run.h"

#include <set>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "tests/server/orders/run_changes.h"
#include "tests/server/project_fixture.h"

namespace quorate {
namespace {

using nlohmann::json;
using test::change;
using test::check_ledger;
using test::ProjectFixture;
using test::ProjectOptions;
using test::refusal_of_change;
using test::Volunteer;

ProjectOptions options_with(const std::string& rule) {
  ProjectOptions options;
  options.rule = rule;
  options.quorum = 1;
  options.epochs = 6;
  options.on_disk = true;
  options.evaluate_every_versions = 1000;  // published at a change only
  return options;
}

void work(ProjectFixture& project, const Volunteer& who, int units) {
  for (int i = 0; i < units; ++i) project.report(who, project.take(who));
}

}  // namespace

TEST_CASE("a run changes its rule, again and again, and goes on") {
  ProjectFixture project(options_with("vc-asgd"));
  const Volunteer who = project.join();
  work(project, who, 2);
  const json changes[] = {
      {{"rule", "diloco"}, {"round_units", 2}, {"round_share", 1.0}},
      {{"rule", "gossip"}, {"rule_settings", {{"replicas", 3}}}},
      {{"rule", "delayed-nesterov"}, {"rule_settings", {{"delay", 2}}}},
      {{"rule", "diloco"}, {"beta", 0.5}, {"lr", 0.01}, {"codec", "int8"}},
      {{"rule", "sync"}},
      {{"rule", "vc-asgd"}, {"alpha", 0.25}, {"local_steps", 4}},
  };
  std::set<std::string> rules;
  for (const json& wishes : changes) {
    const std::uint64_t version = project.run().model.version();
    change(project, wishes);
    CHECK(project.run().model.version() == version);
    CHECK(project.run().published_version == version);
    project.reopen();
    CHECK(project.run().rule->name() == wishes["rule"]);
    work(project, who, 4);
    CHECK(project.run().model.version() > version);
    rules.insert(project.assimilated().back().rule);
    const std::vector<float> before = project.run().model.parameters();
    project.reopen();
    CHECK(project.run().model.parameters() == before);
  }
  CHECK(rules.size() == 5);
  CHECK(project.run().run.local_steps == 4);
  CHECK(project.run().run.codec == Codec::int8);
  CHECK(project.run().run.optimizer.learning_rate == 0.01F);
  CHECK(project.events("run_changed") == 6);
  check_ledger(project);  // replays all of it
}

TEST_CASE("what is under way stays where the new rule can take it") {
  ProjectFixture project(options_with("vc-asgd"));
  const Volunteer who = project.join();
  const Assignment one = project.take(who);
  change(project, {{"rule", "fedasync"}});
  CHECK(project.report(who, one).accepted);
  CHECK(project.assimilated().back().rule == "fedasync");

  const Assignment two = project.take(who);
  change(project, {{"rule", "diloco"}});
  CHECK(project.unit_of(two.result).state == WorkunitState::cancelled);
  CHECK(project.assimilated().size() == 1);
  check_ledger(project);
}

TEST_CASE("a round under way ends without a version when the rule changes") {
  ProjectOptions options = options_with("diloco");
  options.round_units = 4;
  ProjectFixture project(options);
  const Volunteer who = project.join();
  work(project, who, 1);
  CHECK(project.assimilated().empty());
  change(project, {{"rule", "diloco"}, {"round_units", 1}});
  work(project, who, 1);
  REQUIRE(project.assimilated().size() == 1);
  CHECK(project.assimilated().back().version_after == 1);
  check_ledger(project);
}

TEST_CASE("settings are kept unless others are given") {
  ProjectFixture project(options_with("diloco"));
  const std::string settings = "{\"gamma\":0.5,\"snapshots\":\"int8\"}";
  change(project, {{"gamma", 0.5}, {"snapshots", "int8"}});
  CHECK(project.run().run.rule == "diloco");
  CHECK(project.run().run.rule_settings == settings);
  change(project, {{"round_share", 0.9}});
  CHECK(project.run().run.rule_settings == settings);
  CHECK(project.run().run.round_share == 0.9);
  change(project, {{"snapshots", "int4"}});
  CHECK(project.run().run.rule_settings ==
        "{\"gamma\":0.5,\"snapshots\":\"int4\"}");
  change(project, {{"beta", 0.5}});
  CHECK(project.run().run.rule_settings ==
        "{\"beta\":0.5,\"snapshots\":\"int4\"}");
  change(project, {{"rule", "local-sgd"}});
  CHECK(project.run().run.rule_settings == "{\"snapshots\":\"int4\"}");
  change(project, {{"rule", "vc-asgd"}});
  CHECK(project.run().run.rule_settings.empty());
  // a run whose versions are not rounded stays so
  change(project, {{"rule", "diloco"}});
  CHECK(project.run().run.rule_settings.empty());
  CHECK(project.run().rule->snapshots() == Codec::fp32);
}

TEST_CASE("a change that cannot work is refused, and changes nothing") {
  ProjectFixture project(options_with("vc-asgd"));
  CHECK(refusal_of_change(project, json::object()) ==
        "train change: say what to change, for example --rule "
        "diloco; see `quorate train change --help`");
  CHECK(refusal_of_change(project, {{"rule", "magic"}})
            .find("unknown; choose one of") != std::string::npos);
  CHECK(refusal_of_change(project, {{"alpha", 1}})
            .find("setting \"alpha\" is 1") != std::string::npos);
  CHECK(refusal_of_change(project, {{"rule", "sync"}, {"local_steps", 3}})
            .find("have 1 step") != std::string::npos);
  CHECK(refusal_of_change(project, {{"rule", "easgd"}})
            .find("is for SGD without momentum") != std::string::npos);
  CHECK(refusal_of_change(project, {{"lr", "fast"}})
            .find("--lr: expected a number") != std::string::npos);
  CHECK(refusal_of_change(project, {{"codec", "mp3"}})
            .find("unknown codec \"mp3\"") != std::string::npos);
  CHECK(project.run().run.rule == "vc-asgd");
  CHECK(project.run().run.local_steps == 8);
  CHECK(project.events("run_changed") == 0);
  project.job([&] {
    project.daemons().assimilator.end(project.run(), RunState::stopped);
  });
  CHECK(refusal_of_change(project, {{"rule", "diloco"}}).find("is stopped") !=
        std::string::npos);
}

}  // namespace quorate

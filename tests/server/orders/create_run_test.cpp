// A whole project folder, its runs and admin commands, without a server.
#include "server/orders/runs/create_run.h"

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "server/datasets/dataset.h"
#include "server/making/evaluations.h"
#include "server/orders/runs/run_arguments.h"
#include "server/orders/service.h"
#include "server/project/project.h"
#include "tests/server/project_fixture.h"

namespace quorate {
namespace {

using nlohmann::json;

struct Folder {
  Folder() {
    create_project({root.path() / "p"}, "Test", "");
    ProjectFolder folder{root.path() / "p"};
    ObjectStore objects(folder.objects(), folder.temporary());
    write_file_durably(folder.datasets() / "tiny.json",
                       as_bytes(to_json(test::tiny_dataset(objects))));
    settings.house_workers = 0;
  }

  std::unique_ptr<Project> open() {
    return std::make_unique<Project>(root.path() / "p", settings, Roles{},
                                     [](const std::string&) {});
  }

  test::TemporaryFolder root;
  ServerSettings settings;
};

std::string refusal(AdminService& admin, const std::string& command,
                    const json& arguments) {
  try {
    admin.call(command, arguments);
  } catch (const Error& error) {
    CHECK(error.kind() == ErrorKind::usage);
    return error.what();
  }
  return "no error";
}

}  // namespace

TEST_CASE("a run is created with its defaults and is there after a restart") {
  Folder folder;
  {
    auto project = folder.open();
    AdminService admin(*project);
    json row = admin.call("train-create", {{"run", "one"},
                                           {"dataset", "tiny"},
                                           {"model", "mlp:3"},
                                           {"epochs", 2},
                                           {"seed", 9}});
    CHECK(row["run"] == "one");
    CHECK(row["state"] == "running");
    CHECK(row["rule"] == "diloco");
    CHECK(row["settings"]["codec"] == "int4");
    CHECK(row["settings"]["rule_settings"] == "{\"snapshots\":\"int4\"}");
    CHECK(row["version"] == 0);
    CHECK(row["quorum"] == 2);
  }
  auto project = folder.open();
  AdminService admin(*project);
  const TrainingRun& training = *project->state().run_by_name("one");
  CHECK(training.run.batch == 64);
  CHECK(training.run.local_steps == 0);  // by hosts and their speed
  CHECK(training.run.seed == 9);
  CHECK(training.run.epochs == 2);
  CHECK(training.model.parameters() ==
        initial_parameters(training.run.model, 9));
  json entries = admin.call("ledger", {{"run", "one"}});
  REQUIRE(entries.size() == 1);
  CHECK(entries[0]["kind"] == "run");
  CHECK(admin.call("train-list", json::object()).size() == 1);
}

TEST_CASE("wishes that cannot work are refused, naming them") {
  Folder folder;
  auto project = folder.open();
  AdminService admin(*project);
  constexpr const char* kOneValue =
      R"(layers {"layers":[{"layer":"mean_pixels"},{"layer":"batch_norm"},
                           {"layer":"linear","outputs":2}]})";
  struct Row {
    json change;
    const char* says;
  };
  for (const Row& row : {
           Row{{{"run", "No Name"}}, "No Name"},
           Row{{{"dataset", "none"}}, "there is no data set"},
           Row{{{"dataset", "../tiny"}}, "there is no data set"},
           Row{{{"model", "cnn"}}, "cnn"},
           Row{{{"model", "lenet"}}, "images of 4 x 4 x 1 are too small"},
           Row{{{"batch", 0}}, "--batch"},
           Row{{{"batch", 271}}, "--batch 271"},
           Row{{{"micro_batch", 65}}, "--micro-batch"},
           Row{{{"micro_batch", 0}}, "--micro-batch"},
           Row{{{"batch", 1}, {"model", kOneValue}},
               "--batch 1, --micro-batch 1: layer 1: a batch norm of one"},
           Row{{{"batch", 9}, {"micro_batch", 4}, {"model", kOneValue}},
               "--batch 9, --micro-batch 4: layer 1: a batch norm of one"},
           Row{{{"codec", "int9"}},
               "--codec: unknown codec \"int9\": choose one of fp32, int8, "
               "int4, "
               "int2, ternary, sign"},
           Row{{{"epochs", "many"}}, "--epochs"},
           Row{{{"epochs", 1.5}}, "--epochs"},
           Row{{{"quorum", 11}}, "--quorum"},
           Row{{{"lr", -1}}, "--lr"},
           Row{{{"momentum", 1}}, "--momentum"},
           Row{{{"lr_schedule", "cosine"}}, "cosine"},
           Row{{{"rule", "magic"}}, "magic"},
           Row{{{"alpha", 3}}, "alpha"},
           Row{{{"rule", "diloco"}, {"gamma", 2}}, "gamma"},
           Row{{{"rule", "diloco"}, {"alpha", 0.5}}, "alpha"},
           Row{{{"rule_settings", {{"alpha", 3}}}}, "alpha"},
           Row{{{"rule_settings", {{"rate", 1}}}}, "rate"},
           Row{{{"rule", "sync"}, {"local_steps", 2}},
               "--local-steps 2: units of rule"},
           Row{{{"rule", "easgd"}, {"momentum", 0.5}}, "--rule easgd is for"},
           Row{{{"rule", "easgd"}, {"optimizer", "adamw"}}, "without momentum"},
           Row{{{"rule", "gossip"}, {"rule_settings", {{"replicas", 1}}}},
               "from 2 to 1024"},
           Row{{{"round_share", 0}}, "--round-share"},
           Row{{{"rule", "diloco"}, {"assimilators", 2}},
               "--assimilators 2: rule \"diloco\" takes a round as a whole"},
           Row{{{"rule", "diloco"}, {"consistency", "eventual"}},
               "--consistency eventual: rule \"diloco\" takes results in"},
           Row{{{"rule", "easgd"}, {"consistency", "eventual"}},
               "--consistency eventual: rule \"easgd\" keeps more than"},
           Row{{{"rule", "vc-asgd"}, {"assimilators", 17}}, "from 1 to 16"},
           Row{{{"rule", "vc-asgd"}, {"consistency", "weak"}},
               "expected strong or eventual, found weak"},
           Row{{{"preset", "paper"}}, "choose one of: paper-vc-asgd"},
           Row{{{"preset", "paper-vc-asgd"}, {"rule", "diloco"}},
               "--preset paper-vc-asgd is for rule \"vc-asgd\""},
           Row{{{"run", 5}}, "--run: expected a text, found 5"},
       }) {
    json arguments = {{"run", "one"}, {"dataset", "tiny"}};
    arguments.update(row.change);
    CAPTURE(arguments.dump());
    std::string found = refusal(admin, "train-create", arguments);
    CAPTURE(found);
    CHECK(found.find(row.says) != std::string::npos);
  }
  CHECK(project->state().runs.empty());
  CHECK(project->state().store.runs().empty());
}

TEST_CASE("a preset is what its flags are, and other flags change it") {
  Folder folder;
  {
    auto project = folder.open();
    AdminService admin(*project);
    admin.call("train-create", {{"run", "one"},
                                {"dataset", "tiny"},
                                {"preset", "paper-vc-asgd"},
                                {"alpha", "var"},
                                {"epochs", 3},
                                {"consistency", "eventual"}});
  }
  auto project = folder.open();
  const Run& run = project->state().runs.begin()->second.run;
  CHECK(run.rule == "vc-asgd");
  CHECK(json::parse(run.rule_settings) ==
        json{{"alpha", "var"}, {"average", 0}});
  CHECK(run.assimilators == 5);
  CHECK(run.consistency == Consistency::eventual);
  CHECK(run.optimizer.kind == OptimizerKind::adamw);
  CHECK(run.epochs == 3);
  CHECK(run.quorum == 1);
}

TEST_CASE("a text gets a network of text, with AdamW, and no other") {
  Folder folder;
  auto project = folder.open();
  DatasetSource source;
  source.kind = kTextKind;
  source.train.text = Bytes(5000, 'x');
  DatasetManifest manifest =
      build_dataset(source, {"book"}, project->state().objects);
  write_file_durably(project->folder().datasets() / "book.json",
                     as_bytes(to_json(manifest)));
  AdminService admin(*project);
  for (const char* model : {"mlp", "mlp:none", "lenet"}) {
    std::string found =
        refusal(admin, "train-create",
                {{"run", "one"}, {"dataset", "book"}, {"model", model}});
    CAPTURE(found);
    CHECK(found.find("it takes images: choose gpt") != std::string::npos);
  }
  CHECK(project->state().runs.empty());
  std::string found =
      refusal(admin, "train-create",
              {{"run", "one"}, {"dataset", "book"}, {"momentum", 0.5}});
  CHECK(found.find("--momentum is a setting of sgd") != std::string::npos);
  admin.call(
      "train-create",
      {{"run", "one"}, {"dataset", "book"}, {"model", "gpt:context=32"}});
  const TrainingRun& training = project->state().runs.begin()->second;
  CHECK(training.run.optimizer.kind == OptimizerKind::adamw);
  CHECK(training.run.optimizer.learning_rate == 0.001F);  // of a width of 128
  CHECK(training.run.optimizer.clip_norm == 1.0F);
  CHECK(training.run.batch == 16);
  // 4500 tokens in windows of 32
  REQUIRE(training.shards.size() == 1);
  CHECK(training.shards[0].samples == 4500 / 32 - 1);
  admin.call("train-create", {{"run", "two"},
                              {"dataset", "book"},
                              {"model", "gpt:context=32,width=32"}});
  CHECK(project->state().runs.rbegin()->second.run.optimizer.learning_rate ==
        0.004F);
}

TEST_CASE("two runs cannot have one name") {
  Folder folder;
  auto project = folder.open();
  AdminService admin(*project);
  json arguments = {{"run", "one"}, {"dataset", "tiny"}};
  admin.call("train-create", arguments);
  CHECK(refusal(admin, "train-create", arguments).find("one") !=
        std::string::npos);
  CHECK(project->state().runs.size() == 1);
}

TEST_CASE("what is no number is refused under its option's name") {
  CHECK(number_or_text("8") == 8);
  CHECK(number_or_text("8").is_number_integer());
  CHECK(number_or_text(".5") == 0.5);
  CHECK(number_or_text("1e-3") == 1e-3);
  for (const char* text : {"nan", "inf", "1e999", "often", "", "8x", "[1]"}) {
    CAPTURE(text);
    CHECK(number_or_text(text) == text);
  }

  Folder folder;
  auto project = folder.open();
  AdminService admin(*project);
  auto said = [&](const char* name, const char* value) {
    return refusal(
        admin, "train-create",
        {{"run", "one"}, {"dataset", "tiny"}, {name, number_or_text(value)}});
  };
  CHECK(said("local_steps", "often") ==
        "train create: --local-steps: expected a whole number from 0 to "
        "1000000, found \"often\"");
  CHECK(said("lr", "nan") ==
        "train create: --lr: expected a number from 1e-09 to 1000000, found "
        "\"nan\"");
  CHECK(said("seed", "-1") ==
        "train create: --seed: expected a whole number from 0 to "
        "9007199254740992, found -1");
  CHECK(said("epochs", "1.5").find("--epochs: expected a whole") !=
        std::string::npos);
  CHECK(said("local_steps", "auto") == "no error");
}

TEST_CASE("the settings of a run can be read again") {
  Folder folder;
  auto project = folder.open();
  AdminService admin(*project);
  admin.call("train-create", {{"run", "one"},
                              {"dataset", "tiny"},
                              {"lr", 0.25},
                              {"batch", 16},
                              {"micro_batch", 5},
                              {"local_steps", 3},
                              {"codec", "ternary"},
                              {"gamma", 0.5}});
  json settings = admin.call("train-show", {{"run", "one"}})["settings"];
  CHECK(settings["learning_rate"] == 0.25);
  CHECK(settings["batch"] == 16);
  CHECK(settings["micro_batch"] == 5);
  CHECK(settings["local_steps"] == 3);
  CHECK(settings["codec"] == "ternary");
  CHECK(settings["rule_settings"] == "{\"gamma\":0.5,\"snapshots\":\"int4\"}");
}

TEST_CASE("by hand, what does not exist is an error") {
  Folder folder;
  auto project = folder.open();
  AdminService admin(*project);
  admin.call("train-create", {{"run", "one"}, {"dataset", "tiny"}});
  CHECK(refusal(admin, "validate", {{"workunit", 999999}})
            .find("there is no workunit 999999: known open ones are none") !=
        std::string::npos);
  CHECK(refusal(admin, "assimilate", {{"run", "nope"}})
            .find("there is no run \"nope\": known are one") !=
        std::string::npos);
  CHECK(admin.call("validate", json::object())["looked_at"] == 0);
  CHECK(admin.call("assimilate", {{"run", "one"}}).size() == 1);
}

TEST_CASE("lists hold the newest rows of all runs, each with its run") {
  Folder folder;
  auto project = folder.open();
  AdminService admin(*project);
  for (const char* name : {"one", "two"}) {
    admin.call("train-create", {{"run", name}, {"dataset", "tiny"}});
    TrainingRun& run = *project->state().run_by_name(name);
    for (std::uint64_t i = 0; i < 3; ++i) {
      Evaluation evaluation;
      evaluation.version = i;
      evaluation.time = 10 * static_cast<Millis>(i) + run.run.key;
      keep(run.evaluations, evaluation);
    }
  }
  json rows = admin.call("snapshots", {{"limit", 4}});
  REQUIRE(rows.size() == 4);
  CHECK(rows[0]["run"] == "two");
  CHECK(rows[0]["version"] == 2);
  CHECK(rows[1]["run"] == "one");
  CHECK(rows[1]["version"] == 2);
  CHECK(rows[3]["version"] == 1);
  rows = admin.call("snapshots", {{"limit", 1}, {"run", "one"}});
  REQUIRE(rows.size() == 1);
  CHECK(rows[0]["run"] == "one");
  CHECK(rows[0]["version"] == 2);
}

TEST_CASE("runs are paused, resumed and stopped once") {
  Folder folder;
  auto project = folder.open();
  AdminService admin(*project);
  admin.call("train-create", {{"run", "one"}, {"dataset", "tiny"}});
  json one = {{"run", "one"}};
  CHECK(admin.call("train-pause", one)["state"] == "paused");
  CHECK(refusal(admin, "train-pause", one).find("is paused") !=
        std::string::npos);
  CHECK(admin.call("train-resume", one)["state"] == "running");
  CHECK(admin.call("train-stop", one)["state"] == "stopped");
  CHECK(refusal(admin, "train-stop", one).find("stopped already") !=
        std::string::npos);
  CHECK(refusal(admin, "train-resume", one) != "no error");
  CHECK(admin.call("ledger", one).size() == 3);  // run, snapshot, end
}

TEST_CASE("unknown commands, runs, hosts and versions are refused") {
  Folder folder;
  auto project = folder.open();
  AdminService admin(*project);
  CHECK(refusal(admin, "format-disk", json::object()).find("format-disk") !=
        std::string::npos);
  CHECK(refusal(admin, "train-show", {{"run", "x"}}).find("train create") !=
        std::string::npos);
  admin.call("train-create", {{"run", "one"}, {"dataset", "tiny"}});
  CHECK(refusal(admin, "train-show", {{"run", "x"}}).find("known are one") !=
        std::string::npos);
  CHECK(refusal(admin, "host-show", {{"host", "x"}}).find("quorate hosts") !=
        std::string::npos);
  CHECK(refusal(admin, "exportable", {{"run", "one"}}).find("none yet") !=
        std::string::npos);
}

TEST_CASE("a project is opened by one process at a time, or not at all") {
  Folder folder;
  {
    auto project = folder.open();
    CHECK_THROWS_AS(folder.open(), Error);
  }
  folder.open();
  CHECK_THROWS_AS(create_project({folder.root.path() / "p"}, "", ""), Error);
  CHECK_THROWS_AS(load_keys({folder.root.path() / "elsewhere"}), Error);
}

}  // namespace quorate

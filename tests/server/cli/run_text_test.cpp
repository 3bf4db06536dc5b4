#include "server/cli/run_text.h"

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include "server/page/status.h"
#include "tests/server/project_fixture.h"

namespace quorate {

TEST_CASE("runs that stand still say why, the others nothing") {
  auto rows = nlohmann::json::parse(R"([
      {"run": "a", "state": "running", "reason": "", "waits": ""},
      {"run": "b", "state": "running", "reason": "", "waits": "waits: x"},
      {"run": "c", "state": "paused", "reason": "diverged", "waits": ""},
      {"run": "d", "state": "paused", "reason": "", "waits": ""},
      {"run": "e", "state": "finished", "reason": "", "waits": ""},
      {"run": "f", "state": "finished", "reason": "it cost 5", "waits": ""}])");
  CHECK(standstills(rows) ==
        "b: waits: x\n"
        "c: paused: diverged\n"
        "d: paused: by the operator\n"
        "f: it cost 5\n");
}

TEST_CASE("a run says which of its results nobody verified") {
  auto rows = nlohmann::json::parse(R"([{"run": "a", "state": "running",
      "waits": "waits: x", "unverified": 1, "unverified_results": [12]},
      {"run": "b", "state": "running", "waits": "", "unverified": 30,
       "unverified_results": [7, 9]}])");
  CHECK(standstills(rows) ==
        "a: waits: x\n"
        "a: not verified: 1 of its results was accepted without "
        "recomputation: 12; `quorate result revoke ID` takes one out\n"
        "b: not verified: 30 of its results were accepted without "
        "recomputation: 7, 9, ...; `quorate result revoke ID` takes one "
        "out\n");
}

TEST_CASE("the details of a run are its settings, as they were typed") {
  test::ProjectFixture project;
  nlohmann::json row = status::run(project.state(), project.run());
  project.run().run.optimizer.learning_rate = 0.1F;
  project.run().run.rule_settings = "{\"alpha\":0.5}";
  row["settings"] = status::settings(project.run().run);
  std::string text = run_details(row);
  for (const char* part :
       {"quorum 2", "batch 8", "local steps 8", "lr 0.1 (", "momentum 0.",
        "{\"alpha\":0.5}", "round units auto", "0.00 % in the model",
        "share 1, nothing sent lately", "ends:      with its samples"}) {
    CAPTURE(text);
    CHECK(text.find(part) != std::string::npos);
  }
  row["settings"]["local_steps"] = 0;
  row["settings"]["rule_settings"] = "";
  row["settings"]["epoch_barrier"] = true;
  row["hosts_part"] = 0.375;
  row["until"] = "time=6h";
  text = run_details(row);
  CHECK(text.find("local steps auto") != std::string::npos);
  CHECK(text.find("with its defaults") != std::string::npos);
  CHECK(text.find("epochs, a barrier after each,") != std::string::npos);
  CHECK(text.find("37.5 % of hosts' time lately") != std::string::npos);
  CHECK(text.find("at time=6h, or with its samples") != std::string::npos);
}

TEST_CASE("done is what is in the model, progress what was handed out") {
  test::ProjectFixture project;
  test::Volunteer ann = project.join();
  test::Volunteer bob = project.join();
  Assignment first = project.take(ann);
  Assignment second = project.take(bob);
  auto row = [&] { return status::run(project.state(), project.run()); };
  CHECK(row()["progress"].get<double>() > 0);
  CHECK(row()["done"] == 0.0);
  project.report(ann, first);
  project.report(bob, second);
  CHECK(row()["done"] == row()["progress"]);
}

}  // namespace quorate

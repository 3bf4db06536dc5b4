// Orders are noted with what they caused, in the same transaction.
#include <memory>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "server/orders/service.h"
#include "tests/server/new_project.h"
#include "tests/support/temporary_folder.h"
#include "workunits/ledger/order_log.h"

namespace quorate {
namespace {

using nlohmann::json;
using test::TemporaryFolder;

const Person kAnna{1001, "anna"};

class Scene {
 public:
  Scene() : root_(test::new_project(folder_ / "project")) { open(); }
  void open() {
    project_.reset();
    project_ = std::make_unique<Project>(root_, test::without_house_workers(),
                                         Roles{}, [](const std::string&) {});
  }
  json call(const std::string& command, const json& arguments) {
    return AdminService(*project_).call(command, arguments, kAnna);
  }
  std::vector<OrderEntry> log() {
    const json answer = call("log", json::object());
    std::vector<OrderEntry> entries;
    for (const json& row : answer["rows"]) {
      entries.push_back(parse_order(row["line"].get<std::string>()));
    }
    CHECK(answer["made"] == entries.size());
    return entries;
  }

  UserId join(const std::string& name) {
    UserId user = 0;
    project_->writer().run([&] {
      user =
          project_->state()
              .hosts.register_user(PrivateKey::generate().public_key(), name, 1)
              .id;
    });
    return user;
  }

 private:
  TemporaryFolder folder_;
  fs::path root_;
  std::unique_ptr<Project> project_;
};

constexpr const char* kSomebody = "5705b2c1a9e84f6d5705b2c1a9e84f6d";

}  // namespace

TEST_CASE("an order is noted with who, what, why and what it caused") {
  Scene scene;
  scene.call(
      "peers-allow",
      {{"project", kSomebody}, {"name", "friend"}, {"why", "they asked"}});
  scene.call("peers-list", json::object());
  scene.call("status", json::object());
  scene.open();
  scene.call("validate", json::object());
  const std::vector<OrderEntry> log = scene.log();
  REQUIRE(log.size() == 2);
  CHECK(log[0].who == "anna");
  CHECK(log[0].command == "peers-allow");
  CHECK(json::parse(log[0].arguments) ==
        json{{"project", kSomebody}, {"name", "friend"}});
  CHECK(log[0].why == "they asked");
  CHECK(log[0].outcome.find("peer_allowed: project 5705") == 0);
  CHECK(log[0].time > 0);
  CHECK(log[1].outcome.find("looked_at") != std::string::npos);
}

TEST_CASE("an account's name is not in the log, which cannot forget it") {
  Scene scene;
  const UserId eve = scene.join("Eve Adams");
  scene.call("user-rename", {{"user", "Eve Adams"}, {"name", "Anne Adams"}});
  scene.call("user-ban", {{"user", "Anne Adams"}, {"reason", "made-up"}});
  scene.call("user-delete", {{"user", "Anne Adams"}});
  const std::vector<OrderEntry> log = scene.log();
  REQUIRE(log.size() == 3);
  for (const OrderEntry& entry : log) {
    CHECK(json::parse(entry.arguments) == json{{"user", eve}});
    CHECK(entry.outcome.find("Adams") == std::string::npos);
  }
  CHECK(log[1].why == "made-up");
}

TEST_CASE("an order that is refused is not in the log") {
  Scene scene;
  CHECK_THROWS_AS(scene.call("train-stop", {{"run", "none"}}), Error);
  CHECK_THROWS_AS(scene.call("peers-allow", {{"project", 5}}), Error);
  CHECK_THROWS_AS(scene.call("no-such-order", json::object()), Error);
  for (const char* hidden : {"\x1b[2J", "a\nb", "\xe2\x80\xae", "\xc2\x9b"}) {
    for (const char* name : {"reason", "why"}) {
      CHECK_THROWS_WITH_AS(
          scene.call(
              "peers-allow",
              {{"project", kSomebody}, {"name", "friend"}, {name, hidden}}),
          doctest::Contains("expected one line without control"), Error);
    }
  }
  CHECK(scene.log().empty());
}

TEST_CASE("what is long is noted by its beginning") {
  Scene scene;
  scene.call("peers-allow", {{"project", kSomebody},
                             {"more", std::string(100'000, 'x')},
                             {"why", std::string(100'000, 'y')}});
  const OrderEntry entry = scene.log().at(0);
  CHECK(entry.why.find("... (100000 bytes)") != std::string::npos);
  CHECK(entry.arguments.find("... (100000 bytes)") != std::string::npos);
}

}  // namespace quorate

#include "server/orders/operators.h"

#include <string>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>
#include <unistd.h>

#include "base/error.h"

namespace quorate {
namespace {

constexpr std::uint32_t kOwner = 1000;

std::string refusal_of(const Person& who, bool asks) {
  ServerSettings settings;
  settings.operators = {"anna"};
  settings.guests = {"ben"};
  try {
    expect_may_order(who, kOwner, settings, asks);
  } catch (const Error& error) {
    CHECK(error.kind() == ErrorKind::denied);
    return error.what();
  }
  return "";
}

}  // namespace

TEST_CASE("who may give orders, and who may only ask") {
  for (const bool asks : {true, false}) {
    CHECK(refusal_of({kOwner, "owner"}, asks).empty());
    CHECK(refusal_of({0, "root"}, asks).empty());
    CHECK(refusal_of({1001, "anna"}, asks).empty());
    CHECK(refusal_of({1003, "eve"}, asks).find("user eve may not") == 0);
  }
  CHECK(refusal_of({1002, "ben"}, true).empty());
  CHECK(refusal_of({1002, "ben"}, false).find("user ben is a guest") == 0);
}

TEST_CASE("a command that is not known changes something") {
  CHECK(only_asks("status", {}));
  CHECK(only_asks("log", nlohmann::json::object()));
  CHECK(only_asks("validate", {{"dry_run", true}}));
  CHECK_FALSE(only_asks("validate", {{"dry_run", false}}));
  CHECK_FALSE(only_asks("validate", {{"dry_run", "yes"}}));
  CHECK_FALSE(only_asks("train-stop", nlohmann::json::object()));
  CHECK_FALSE(only_asks("train-stop", {{"dry_run", true}}));
  CHECK_FALSE(only_asks("anything", nlohmann::json::object()));
}

TEST_CASE("a person is known by the system's name, or else the number") {
  CHECK(this_person().id == ::geteuid());
  CHECK(person_of(0).name == "root");
  CHECK(person_of(4'000'000'123).name == "4000000123");
}

TEST_CASE("a guest of the page looks, an operator orders") {
  CHECK_NOTHROW(expect_may_order("web:anna", false, false));
  CHECK_NOTHROW(expect_may_order("web:eve", true, true));
  CHECK_THROWS_AS(expect_may_order("web:eve", true, false), Error);
}

}  // namespace quorate

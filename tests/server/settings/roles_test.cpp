// Small pure parts: roles, the best version, tables, credit.
#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "server/cli/support/table.h"
#include "server/hosts/credit.h"
#include "server/making/evaluations.h"
#include "server/project/daemons.h"

namespace quorate {
namespace {

Evaluation evaluation(std::uint64_t version, double accuracy, double loss) {
  Evaluation one;
  one.version = version;
  one.accuracy = accuracy;
  one.loss = loss;
  return one;
}

}  // namespace

TEST_CASE("no roles, or all, means every daemon") {
  for (const char* text : {"", "all"}) {
    Roles roles = parse_roles(text);
    CHECK(roles.scheduler);
    CHECK(roles.validator);
    CHECK(roles.assimilator);
    CHECK(roles.evaluator);
  }
}

TEST_CASE("named roles run, the others do not") {
  Roles two = parse_roles("validator,evaluator");
  CHECK_FALSE(two.scheduler);
  CHECK(two.validator);
  CHECK_FALSE(two.assimilator);
  CHECK(two.evaluator);
  CHECK(parse_roles("scheduler").scheduler);
  CHECK(parse_roles("scheduler,assimilator").assimilator);
}

TEST_CASE("roles that do not run are named") {
  CHECK(roles_off(Roles{}).empty());
  CHECK(roles_off(parse_roles("validator,scheduler")) ==
        std::vector<std::string>{"assimilator", "evaluator"});
}

TEST_CASE("an unknown role is refused with those that are known") {
  for (const char* text :
       {"validater", "validator,", ",", "validator assimilator"}) {
    CAPTURE(text);
    try {
      parse_roles(text);
      FAIL_CHECK("no error");
    } catch (const Error& error) {
      CHECK(error.kind() == ErrorKind::usage);
      CHECK(std::string(error.what())
                .find("scheduler, validator, assimilator, evaluator") !=
            std::string::npos);
    }
  }
}

TEST_CASE("the best version has the highest accuracy, then the lower loss") {
  CHECK_FALSE(best_of({}).has_value());
  CHECK(best_of({evaluation(1, 0.5, 1), evaluation(2, 0.7, 3),
                 evaluation(3, 0.6, 0.1)})
            ->version == 2);
  CHECK(best_of({evaluation(1, 0.5, 2), evaluation(2, 0.5, 1)})->version == 2);
  // Of equals the earlier.
  CHECK(best_of({evaluation(1, 0.5, 1), evaluation(2, 0.5, 1)})->version == 1);
}

TEST_CASE("a cobblestone is a 200th of a day of 1 Gflop/s") {
  CHECK(credit_of(1e9 * 86400) == doctest::Approx(200));
}

TEST_CASE("a table aligns its columns, numbers to the right") {
  auto rows = nlohmann::json::parse(
      R"([{"id": 7, "name": "alpha"}, {"id": 123, "name": "b"}, {"id": 1}])");
  CHECK(table(rows, {{"ID", "id"}, {"NAME", "name"}}) ==
        " ID  NAME\n"
        "  7  alpha\n"
        "123  b\n"
        "  1  -\n");
  CHECK(table(nlohmann::json::array(), {{"ID", "id"}}) == "(none)\n");
}

TEST_CASE("cells are for people") {
  CHECK(cell("best_accuracy", 0.98765) == "98.77 %");
  CHECK(cell("progress", 1) == "100.00 %");
  CHECK(cell("done", 0.5) == "50.00 %");
  CHECK(cell("accuracy", nullptr) == "-");
  CHECK(cell("loss", 0.123456) == "0.1235");
  CHECK(cell("ended", 0) == "-");
  CHECK(cell("sent", 1700000000000).size() == 19);
  CHECK(cell("active", true) == "true");
  CHECK(cell("name", "x") == "x");
}

}  // namespace quorate

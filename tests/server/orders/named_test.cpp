#include "server/orders/named.h"

#include <cstdlib>
#include <ctime>

#include <doctest/doctest.h>

#include "base/error.h"
#include "tests/server/project_fixture.h"

namespace quorate {
namespace {

constexpr Millis kNow = 1'800'000'000'000;
constexpr Millis kHour = 3'600'000;

std::string refusal(const std::string& text) {
  try {
    since_text(text, kNow);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

}  // namespace

TEST_CASE("a moment is so long ago, or a date") {
  CHECK(since_text("6h", kNow) == kNow - 6 * kHour);
  CHECK(since_text("1.5 d", kNow) == kNow - 36 * kHour);
  CHECK(since_text("2026-11-24T10:30Z", kNow) == 1'795'516'200'000);
  CHECK(since_text("2026-11-24 10:30:05Z", kNow) == 1'795'516'205'000);
  CHECK(since_text("2026-11-24Z", kNow) == 1'795'478'400'000);
  // Without a Z it is local time, as the tables show it.
  const std::time_t seconds = since_text("2026-11-24T10:30", kNow) / 1000;
  std::tm parts{};
  ::localtime_r(&seconds, &parts);
  CHECK(parts.tm_mday == 24);
  CHECK(parts.tm_hour == 10);
  CHECK(parts.tm_min == 30);
  for (const char* none : {"", "yesterday", "6", "2026-02-30", "2026-13-01",
                           "2026-11-24T10", "2026-11-24T10:30x"}) {
    CAPTURE(none);
    CHECK(refusal(none).find("expected how long ago") != std::string::npos);
  }
  CHECK(refusal("2999-01-01").find("future") != std::string::npos);
}

TEST_CASE(
    "a host or user is named by id, name or key; errors say who is known") {
  test::ProjectFixture project;
  const test::Volunteer ann = project.join(), bob = project.join();
  ProjectState& state = project.state();
  project.job([&] { state.hosts.host(bob.host)->name = "attic"; });
  CHECK(host_named(state, "attic").id == bob.host);
  CHECK(host_named(state, std::to_string(ann.host)).id == ann.host);
  CHECK(host_named(state, ann.key.public_key().hex()).id == ann.host);
  CHECK(user_named(state, std::to_string(bob.user)).id == bob.user);
  const std::string known =
      "known are 1 house of house workers, 2 machine of " +
      state.hosts.user(ann.user)->name + ", 3 attic of " +
      state.hosts.user(bob.user)->name;
  CHECK_THROWS_WITH_AS(host_named(state, "cellar"),
                       doctest::Contains(known.c_str()), Error);
  CHECK_THROWS_WITH_AS(user_named(state, "eve"),
                       doctest::Contains("known are 1 house workers"), Error);
  project.job([&] { state.hosts.host(ann.host)->name = "attic"; });
  CHECK_THROWS_WITH_AS(host_named(state, "attic"),
                       doctest::Contains("2 have this name"), Error);
}

TEST_CASE("what is known is cut short") {
  CHECK(known({}) == "none");
  CHECK(known({"a", "b"}) == "a, b");
  CHECK(known(std::vector<std::string>(11, "x")) ==
        "x, x, x, x, x, x, x, x and 3 more");
}

}  // namespace quorate

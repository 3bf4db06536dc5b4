// Who may log in: accounts, passwords, codes, and how long one waits.
#include "server/web/logins.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "base/error.h"
#include "tests/support/temporary_folder.h"

namespace quorate {
namespace {

constexpr const char* kAnnasPassword = "correct horse battery";

// A folder with one operator and one guest, and a clock.
struct LoginScene {
  LoginScene() {
    clock.set(Instant{Seconds(1'700'000'010)});
    anna = new_web_operator("anna", false, kAnnasPassword, clock.unix_ms());
    save_web_operators(
        file,
        {anna, new_web_operator("eve", true, "another one!", clock.unix_ms())});
    logins.emplace(file, clock);
  }

  std::string code_of(std::int64_t steps_from_now = 0) const {
    const auto step =
        static_cast<std::int64_t>(code_step(clock.unix_ms())) + steps_from_now;
    return fmt::format(
        "{:06}", one_time_code(anna.secret, static_cast<std::uint64_t>(step)));
  }
  LoginAnswer log_in(const std::string& password, const std::string& code,
                     const std::string& name = "anna",
                     const std::string& place = "192.0.2.1") {
    return logins->check({name, password, code}, places_of(place));
  }

  test::TemporaryFolder folder;
  fs::path file = folder / "web_operators.json";
  ManualClock clock;
  WebOperator anna;
  std::optional<Logins> logins;
};

constexpr Seconds kCodeStep{30};

}  // namespace

TEST_CASE("a name, its password and a new code let in, once") {
  LoginScene scene;
  scene.clock.advance(kCodeStep);
  const std::string code = scene.code_of();
  const LoginAnswer in = scene.log_in(kAnnasPassword, code);
  REQUIRE(in.who);
  CHECK(*in.who == scene.anna);
  CHECK(!scene.log_in(kAnnasPassword, code).who);
  scene.clock.advance(kCodeStep);
  CHECK(!scene.log_in(kAnnasPassword, code).who);  // it was used
  CHECK(scene.log_in(kAnnasPassword, scene.code_of()).who);
  // One that was shown before a used one is no better.
  CHECK(!scene.log_in(kAnnasPassword, scene.code_of(-1)).who);
}

TEST_CASE("after a restart no code of before is taken") {
  LoginScene scene;
  scene.clock.advance(kCodeStep);
  const std::string code = scene.code_of();
  CHECK(scene.log_in(kAnnasPassword, code).who);
  scene.logins.emplace(scene.file, scene.clock);
  CHECK(!scene.log_in(kAnnasPassword, code).who);
  scene.clock.advance(kCodeStep);
  CHECK(!scene.log_in(kAnnasPassword, code).who);
  CHECK(scene.log_in(kAnnasPassword, scene.code_of()).who);
}

TEST_CASE("one wrong thing of the three is enough") {
  LoginScene scene;
  scene.clock.advance(kCodeStep);
  CHECK(!scene.log_in("correct horse", scene.code_of()).who);
  CHECK(!scene.log_in(kAnnasPassword, "000000x").who);
  CHECK(!scene.log_in(kAnnasPassword, scene.code_of(), "nobody", "192.0.2.2")
             .who);
  CHECK(!scene.log_in(kAnnasPassword, scene.code_of(), "eve", "192.0.2.2").who);
  // Wrong passwords use no code up.
  CHECK(scene.log_in(kAnnasPassword, scene.code_of()).who);
}

TEST_CASE("whoever fails waits, longer each time, and is not looked at") {
  LoginScene scene;
  scene.clock.advance(kCodeStep);
  for (int i = 0; i < 3; ++i) CHECK(!scene.log_in("wrong", "").who);
  const LoginAnswer early = scene.log_in(kAnnasPassword, scene.code_of());
  CHECK(!early.who);
  CHECK(early.wait == Seconds(1));
  // From elsewhere as well: it is about the name, too.
  CHECK(scene.log_in(kAnnasPassword, scene.code_of(), "anna", "198.51.100.1")
            .wait == Seconds(1));
  scene.clock.advance(Seconds(1));
  CHECK(!scene.log_in("wrong", "").who);
  CHECK(scene.log_in(kAnnasPassword, scene.code_of()).wait == Seconds(2));
  scene.clock.advance(Seconds(2));
  CHECK(scene.log_in(kAnnasPassword, scene.code_of()).who);
  CHECK(!scene.log_in("wrong", "").who);  // counted anew
  CHECK(scene.log_in("wrong", "").wait == Seconds(0));
}

TEST_CASE("a wait doubles up to its longest, and is forgotten") {
  CHECK(wait_after(2, Seconds(900)) == Seconds(0));
  CHECK(wait_after(3, Seconds(900)) == Seconds(1));
  CHECK(wait_after(8, Seconds(900)) == Seconds(32));
  CHECK(wait_after(4'000'000'000, Seconds(900)) == Seconds(900));
  ManualClock clock;
  LoginLimit limit(Seconds(900), clock);
  for (int i = 0; i < 20; ++i) limit.failed("a");
  CHECK(limit.wait_of("a") == Seconds(900));
  CHECK(limit.wait_of("b") == Seconds(0));
  clock.advance(LoginLimit::kForgottenAfter);
  limit.failed("a");
  CHECK(limit.wait_of("a") == Seconds(0));
}

TEST_CASE("whoever has many networks fails only so often in all of them") {
  LoginScene scene;
  int looked_at = 0;
  for (int i = 0; i < 1000; ++i) {
    // Each from a /56 of its own, and for a name of its own.
    const std::string from = fmt::format("2001:db8:1:{:x}00::1", i % 256);
    const std::string name = fmt::format("name{}", i);
    if (scene.log_in("wrong", "", name, from).wait == Seconds(0)) ++looked_at;
  }
  CHECK(looked_at == 3 * 16);
  // Others are as free as ever.
  CHECK(scene.log_in("wrong", "", "b", "2001:db8:2::1").wait == Seconds(0));
}

TEST_CASE("a login ends the wait of its own place alone") {
  LoginScene scene;
  scene.clock.advance(kCodeStep);
  const auto fails = [&](const std::string& from, const std::string& name) {
    return scene.log_in("wrong", "", name, from).wait == Seconds(0);
  };
  for (int i = 0; i < 11; ++i) {
    CHECK(fails(fmt::format("2001:db8:1:{:x}::1", i), fmt::format("n{}", i)));
  }
  CHECK(
      scene.log_in(kAnnasPassword, scene.code_of(), "anna", "2001:db8:1:ff::1")
          .who);
  CHECK(fails("2001:db8:1:20::1", "x"));
  CHECK_FALSE(fails("2001:db8:1:21::1", "y"));
}

TEST_CASE("a flood of names is counted as one, and fills no memory") {
  ManualClock clock;
  LoginLimit limit(Seconds(30), clock);
  for (std::size_t i = 0; i < LoginLimit::kMostKeys + 10; ++i) {
    limit.failed(std::to_string(i));
  }
  CHECK(limit.wait_of("new") > Seconds(0));
  CHECK(limit.wait_of("1") == Seconds(0));
  clock.advance(LoginLimit::kForgottenAfter);
  limit.failed("new");
  CHECK(limit.wait_of("newer") == Seconds(0));
}

TEST_CASE("who failed is forgotten when it counts no more") {
  ManualClock clock;
  LoginLimit limit(Seconds(30), clock);
  limit.failed("192.0.2.1");
  clock.advance(LoginLimit::kForgottenAfter / 2);
  limit.failed("192.0.2.2");
  CHECK(limit.keys_known() == 2);
  clock.advance(LoginLimit::kForgottenAfter / 2);
  limit.failed("192.0.2.3");
  CHECK(limit.keys_known() == 2);
}

TEST_CASE("accounts are read as they were written, by their owner alone") {
  LoginScene scene;
  const std::string text = read_text_file(scene.file);
  const std::vector<WebOperator> all = load_web_operators(scene.file);
  REQUIRE(all.size() == 2);
  CHECK(write_web_operators(all) == text);
  CHECK(text.find(kAnnasPassword) == text.npos);
  CHECK(load_web_operators(scene.folder / "none").empty());
  fs::permissions(scene.file, fs::perms::others_read, fs::perm_options::add);
  CHECK_THROWS_AS(load_web_operators(scene.file), Error);
  for (const char* wrong : {"", "{}", "[]", "{\"format\":\"x\"}"}) {
    CHECK_THROWS_AS(parse_web_operators(wrong), Error);
  }
  CHECK_THROWS_AS(parse_web_operators(text + " "), Error);
  std::vector<WebOperator> twice = {scene.anna, scene.anna};
  CHECK_THROWS_AS(parse_web_operators(write_web_operators(twice)), Error);
  CHECK(is_web_name("anna.b_2-c"));
  for (const char* wrong : {"", "Anna", "a b", "web:a", "ä"}) {
    CHECK(!is_web_name(wrong));
  }
}

TEST_CASE("a login is small, and says all three") {
  const Login login =
      parse_login(R"({"name":"anna","password":"p","code":"123456"})");
  CHECK(login.name == "anna");
  CHECK(login.code == "123456");
  for (const std::string& wrong :
       {std::string("{}"), std::string(R"({"name":1,"password":"","code":""})"),
        R"({"name":"anna","code":"","password":")" + std::string(2000, 'x') +
            "\"}"}) {
    CHECK_THROWS_AS(parse_login(wrong), Error);
  }
}

}  // namespace quorate

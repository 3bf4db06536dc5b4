#include <doctest/doctest.h>

#include "server/doors/boinc/accounts/master_page.h"
#include "server/doors/boinc/accounts/urls.h"
#include "server/hosts/look_alike.h"
#include "tests/server/doors/boinc/boinc_scene.h"

namespace quorate::boinc {
namespace {

using test::element;
using test::Scene;

constexpr const char* kHash = "0123456789abcdef0123456789abcdef";
constexpr const char* kOther = "00000000000000000000000000000001";

std::string query(const std::string& what, const std::string& hash = kHash) {
  return "/boinc/" + what +
         "_account.php?email_addr=Ann%40Example.org&passwd_hash=" + hash +
         "&user_name=Ann";
}

}  // namespace

TEST_CASE("an account with an address opens with its password alone") {
  Scene scene;
  CHECK(element(scene.get(query("lookup")), "error_num") == "-136");
  std::string key = element(scene.get(query("create")), "authenticator");
  CHECK(key.size() == 32);
  CHECK(element(scene.get(query("lookup")), "authenticator") == key);
  CHECK(element(scene.get(query("lookup", kOther)), "error_num") == "-206");
  // Made once more: the same for who knows the password.
  CHECK(element(scene.get(query("create")), "authenticator") == key);
  CHECK(element(scene.get(query("create", kOther)), "error_num") == "-207");
  CHECK(element(scene.get("/boinc/create_account.php?email_addr=x"),
                "error_num") == "-205");
  scene.job([](ProjectState& state) {
    std::vector<BoincAccount> accounts = state.store.boinc_accounts();
    REQUIRE(accounts.size() == 1);
    CHECK(accounts[0].email == "ann@example.org");
    CHECK(state.hosts.user(accounts[0].user)->name == "Ann");
    // What opens it is not in the store.
    CHECK(accounts[0].password.hex().find(kHash) == std::string::npos);
  });
}

TEST_CASE("no cache keeps what opens an account") {
  Scene scene;
  const std::string nameless = "/boinc/create_account.php?user_name=Ann";
  // Made, made again, looked up, and refused.
  for (const std::string& path : {nameless, query("create"), query("create"),
                                  query("lookup"), query("lookup", kOther)}) {
    CAPTURE(path);
    CHECK(scene.get_from(path, "localhost").headers["Cache-Control"] ==
          "no-store");
  }
}

TEST_CASE("a page says no address that is none") {
  Scene scene;
  for (const char* path : {"/boinc/", "/boinc/get_project_config.php"}) {
    CAPTURE(path);
    CHECK(scene.get_from(path, "a.example:80")
              .body.find("http://a.example:80/boinc/") != std::string::npos);
    for (const char* host : {"evil.example/x", "a.example,evil.example",
                             "evil%2e", "a:b", "[evil]", "evil:0", ""}) {
      CAPTURE(host);
      const auto response = scene.get_from(path, host);
      CHECK(response.status == 400);
      CHECK(response.body.find("evil") == std::string::npos);
    }
  }
}

TEST_CASE("with a `url` no page says what the client called this server") {
  ServerSettings settings;
  settings.url = "https://train.example.org";
  Request request;
  request.headers = {{"Host", "evil.example"}};
  CHECK(master_url(settings, request, true) ==
        "https://train.example.org/boinc/");
}

TEST_CASE("an account without an address has a key of its own") {
  Scene scene;
  std::string ann = scene.account("Ann");
  std::string bob = scene.account("Bob");
  CHECK(ann.size() == 32);
  CHECK(ann != bob);
  CHECK(scene.account("house%20workers").size() == 32);
  scene.job([](ProjectState& state) {
    for (const auto& [id, user] : state.hosts.users()) {
      CHECK((id == kHouseUser || !is_reserved_name(user.name)));
    }
  });
}

TEST_CASE("accounts of one address come at a bounded rate") {
  Scene scene;  // one a minute is twelve at once
  for (int i = 0; i < 12; ++i) CHECK_FALSE(scene.account("x").empty());
  CHECK(scene.account("x").empty());
  CHECK(scene.get("/boinc/create_account.php").find("try again in") !=
        std::string::npos);
}

TEST_CASE("a project may have any name, its page is no worse for it") {
  const std::string page =
      master_page("<b>R&D</b> {0} \"x\"", "https://example.org/boinc/");
  CHECK(page.find("<h1>&lt;b&gt;R&amp;D&lt;/b&gt; {0} &quot;x&quot;</h1>") !=
        std::string::npos);
  CHECK(page.find("<code>https://example.org/boinc/</code>") !=
        std::string::npos);
  CHECK(page.find("href=\"https://example.org/boinc/cgi\"") !=
        std::string::npos);
}

TEST_CASE("a client finds the scheduler, and a manager the configuration") {
  Scene scene;
  for (const char* path : {"/boinc/", "/boinc"}) {
    std::string page = scene.get(path);
    CHECK(page.find("<link rel=\"boinc_scheduler\" href=\"http://127.0.0.1:") !=
          std::string::npos);
    CHECK(element(page, "scheduler").ends_with("/boinc/cgi"));
  }
  std::string config = scene.get("/boinc/get_project_config.php");
  CHECK(element(config, "name") == "Test");
  CHECK(element(config, "master_url").ends_with("/boinc/"));
  CHECK_FALSE(element(config, "platform_name").empty());
}

}  // namespace quorate::boinc

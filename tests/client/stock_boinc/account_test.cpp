#include "client/stock_boinc/account.h"

#include <functional>

#include <doctest/doctest.h>

#include "base/error.h"

namespace quorate::client {
namespace {

std::string master_url(const std::string& address) {
  return boinc_master_url(parse_boinc_address(address));
}

ErrorKind kind_of(const std::function<void()>& act) {
  try {
    act();
  } catch (const Error& e) {
    return e.kind();
  }
  FAIL("nothing was thrown");
  return ErrorKind::io;
}

// Answers every request with the same reply.
class OneReply final : public Transfer {
 public:
  OneReply(int status, std::string body) {
    reply_.status = status;
    reply_.body = std::move(body);
  }
  HttpReply send(const HttpRequest& request, const std::stop_token&) override {
    path = request.path;
    return reply_;
  }
  std::string path;

 private:
  HttpReply reply_;
};

TEST_CASE("the master URL of a project's address") {
  CHECK(master_url("https://Example.ORG:8470") ==
        "https://example.org:8470/boinc/");
  CHECK(master_url("http://127.0.0.1:8470/") == "http://127.0.0.1:8470/boinc/");
  CHECK(master_url("example.org/Training//") ==
        "https://example.org/Training/boinc/");
  CHECK(master_url("example.org#5f2c9a1e77d0b3c48e06d1f2b7a93c55") ==
        "https://example.org/boinc/");
}

TEST_CASE("a master URL is the project's address, too") {
  CHECK(parse_boinc_address("http://a.b/boinc/").url == "http://a.b");
  CHECK(parse_boinc_address("http://a.b/x/boinc").url == "http://a.b/x");
  CHECK(parse_boinc_address("http://boinc").url == "http://boinc");
  CHECK(parse_boinc_address("http://a.b/myboinc").url == "http://a.b/myboinc");
}

TEST_CASE("addresses that BOINC clients cannot take") {
  CHECK(kind_of([] { master_url("http://localhost:8470"); }) ==
        ErrorKind::usage);
  // The dot has to be the host's.
  CHECK(kind_of([] { master_url("http://localhost/a.b"); }) ==
        ErrorKind::usage);
  const std::string longest = "http://a.b/" + std::string(237, 'x');
  CHECK(master_url(longest).size() == 255);
  CHECK(kind_of([&] { master_url(longest + "x"); }) == ErrorKind::usage);
}

TEST_CASE("projects of Quorate's among others") {
  StockProject project;
  project.url = "https://example.org/boinc/";
  CHECK(is_quorate(project));  // it has not answered yet
  project.apps = {"quorate"};
  CHECK(is_quorate(project));
  project.apps = {"quorate", "period_search"};
  CHECK_FALSE(is_quorate(project));
  project.apps = {"quorate"};
  project.url = "https://example.org/rosetta/";
  CHECK_FALSE(is_quorate(project));
}

TEST_CASE("account keys") {
  expect_account_key("0123456789abcdef0123456789abcdef");
  expect_account_key(std::string(64, 'Z'));
  for (std::string key : {std::string(), std::string(65, 'a'),
                          std::string("a b"), std::string("<a>")}) {
    CAPTURE(key);
    CHECK(kind_of([&] { expect_account_key(key); }) == ErrorKind::usage);
  }
}

TEST_CASE("an account is made, its name in the address") {
  OneReply project(200,
                   "<account_out>\n<authenticator>ab12</authenticator>\n"
                   "</account_out>\n");
  CHECK(create_account(project, "Zo\xc3\xab & co") == "ab12");
  CHECK(project.path ==
        "/boinc/create_account.php?user_name=Zo%C3%AB%20%26%20co");
  create_account(project, "");
  CHECK(project.path == "/boinc/create_account.php?user_name=");
}

TEST_CASE("a project with and without a door") {
  OneReply open(200, "<project_config/>");
  expect_boinc_door(open);
  CHECK(open.path == "/boinc/get_project_config.php");
  OneReply closed(404, "");
  CHECK(kind_of([&] { expect_boinc_door(closed); }) == ErrorKind::unsupported);
}

// Whom nobody vouches for.
class Untrusted final : public Transfer {
 public:
  HttpReply send(const HttpRequest&, const std::stop_token&) override {
    throw Error(ErrorKind::denied, "self-signed");
  }
};

TEST_CASE("a server without an authority's certificate is explained") {
  Untrusted server;
  CHECK_THROWS_WITH_AS(
      expect_boinc_door(server),
      "self-signed: BOINC clients trust only certificates that an authority "
      "has signed: ask the project for an address that has one",
      Error);
}

TEST_CASE("what else a project may answer") {
  struct Case {
    int status;
    const char* body;
    ErrorKind kind;
  };
  for (const Case& c :
       {Case{404, "", ErrorKind::unsupported},
        Case{503, "", ErrorKind::unavailable}, Case{403, "", ErrorKind::denied},
        Case{302, "<html>", ErrorKind::denied},
        Case{200, "<html>log in</html>", ErrorKind::corrupt},
        Case{200, "", ErrorKind::corrupt},
        Case{200, "<error><error_num>-208</error_num></error>",
             ErrorKind::denied}}) {
    CAPTURE(c.status);
    CAPTURE(c.body);
    OneReply project(c.status, c.body);
    CHECK(kind_of([&] { create_account(project, "ada"); }) == c.kind);
  }
}

}  // namespace
}  // namespace quorate::client

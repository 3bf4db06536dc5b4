#include "server/doors/native/native_door.h"

#include <string>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "protocol/native/messages.h"
#include "server/http/server.h"
#include "tests/server/new_project.h"
#include "tests/support/raw_http.h"
#include "tests/support/temporary_folder.h"

namespace quorate {
namespace {

using test::RawHttp;
using test::RawResponse;

// A project that answers over HTTP. One a minute is twelve at once.
class Door {
 public:
  Door()
      : project_(test::new_project(folder_ / "project"), settings(), Roles{},
                 [](const std::string&) {}) {
    Router routes;
    door_.add_routes(routes);
    port_ = http_.listen({}, std::move(routes));
    project_.start();
    http_.start();
  }
  ~Door() {
    http_.stop(Seconds(0));
    project_.stop();
  }

  RawResponse register_account(const PrivateKey& key,
                               const char* from = "127.0.0.1") {
    protocol::AccountRequest account;
    account.account = key.public_key();
    account.name = "Ann";
    account.signature = key.sign(protocol::account_message(id(), account));
    return post("/v1/accounts", protocol::write(account), from);
  }

  RawResponse register_host(const PrivateKey& account, const PrivateKey& key,
                            const char* from = "127.0.0.1") {
    protocol::HostRequest host;
    host.account = account.public_key();
    host.host = key.public_key();
    host.name = "machine";
    host.platform = "test";
    Bytes message = protocol::host_message(id(), host);
    host.account_signature = account.sign(message);
    host.host_signature = key.sign(message);
    return post("/v1/hosts", protocol::write(host), from);
  }

 private:
  static ServerSettings settings() {
    ServerSettings settings = test::without_house_workers();
    settings.new_accounts_per_minute = 1;
    settings.new_hosts_per_minute = 1;
    return settings;
  }
  ProjectId id() { return project_.keys().id; }
  RawResponse post(const char* path, const std::string& body,
                   const char* from) {
    return RawHttp(port_, from)
        .exchange(
            fmt::format("POST {} HTTP/1.1\r\nContent-Length: {}\r\n\r\n{}",
                        path, body.size(), body));
  }

  test::TemporaryFolder folder_;
  Project project_;
  NativeDoor door_{project_, ""};
  HttpServer http_{{}};
  std::uint16_t port_ = 0;
};

}  // namespace

TEST_CASE("new accounts and hosts of one address come at a bounded rate") {
  Door door;
  PrivateKey ann = PrivateKey::generate();
  PrivateKey first = PrivateKey::generate();
  REQUIRE(door.register_account(ann).status == 200);
  REQUIRE(door.register_host(ann, first).status == 200);
  for (int i = 1; i < 12; ++i) {
    CHECK(door.register_account(PrivateKey::generate()).status == 200);
    CHECK(door.register_host(ann, PrivateKey::generate()).status == 200);
  }
  for (const RawResponse& refused :
       {door.register_account(PrivateKey::generate()),
        door.register_host(ann, PrivateKey::generate())}) {
    CHECK(refused.status == 429);
    CHECK(refused.body.find("unavailable") != std::string::npos);
    REQUIRE(refused.headers.contains("Retry-After"));
    int wait = std::stoi(refused.headers.at("Retry-After"));
    CHECK(wait > 0);
    CHECK(wait <= 60);
  }
  // Those that are known, and other places, are not held up.
  CHECK(door.register_account(ann).status == 200);
  CHECK(door.register_host(ann, first).status == 200);
  CHECK(door.register_host(ann, PrivateKey::generate(), "127.0.0.2").status ==
        200);
}

}  // namespace quorate

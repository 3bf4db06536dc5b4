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

  // The token of a fresh session.
  std::string session(const PrivateKey& key) {
    protocol::SessionRequest wanted;
    wanted.host = key.public_key();
    const auto ask = [&] {
      return protocol::parse_session_reply(
          as_bytes(post("/v1/sessions", protocol::write(wanted)).body));
    };
    wanted.challenge = ask().challenge;
    wanted.signature = key.sign(protocol::session_message(id(), wanted));
    wanted.is_signed = true;
    return ask().token;
  }

  // signed_for: the session that the signature is for.
  RawResponse delete_account(const PrivateKey& account,
                             const std::string& token,
                             const std::string& signed_for) {
    protocol::AccountRequest wanted;
    wanted.account = account.public_key();
    wanted.signature = account.sign(
        protocol::deletion_message(id(), wanted.account, signed_for));
    return post("/v1/accounts/deletion", protocol::write(wanted), "127.0.0.1",
                fmt::format("Authorization: Bearer {}\r\n", token));
  }

  RawResponse ask_for_work(const std::string& token) {
    return post("/v1/work", protocol::write(protocol::WorkRequest{}),
                "127.0.0.1",
                fmt::format("Authorization: Bearer {}\r\n", token));
  }
  RawResponse get(const std::string& path) {
    return RawHttp(port_).exchange(
        fmt::format("GET {} HTTP/1.1\r\n\r\n", path));
  }
  // As if it had asked for minutes.
  void use_up_asks(const PrivateKey& key) {
    project_.writer().run([&] {
      ProjectState& state = project_.state();
      const Host* host = state.hosts.host_by_key(key.public_key());
      while (!state.asks.join(std::to_string(host->id))) {
      }
    });
  }
  const KnownClients& known_clients() { return project_.state().known_clients; }

 private:
  static ServerSettings settings() {
    ServerSettings settings = test::without_house_workers();
    settings.new_accounts_per_minute = 1;
    settings.new_hosts_per_minute = 1;
    return settings;
  }
  ProjectId id() { return project_.keys().id; }
  RawResponse post(const char* path, const std::string& body,
                   const char* from = "127.0.0.1",
                   const std::string& headers = "") {
    return RawHttp(port_, from)
        .exchange(
            fmt::format("POST {} HTTP/1.1\r\n{}Content-Length: {}\r\n\r\n{}",
                        path, headers, body.size(), body));
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

TEST_CASE("no cache keeps the statement, and a host asks at a bounded rate") {
  Door door;
  CHECK(door.get("/v1/project").headers["Cache-Control"] == "no-store");
  const PrivateKey account = PrivateKey::generate();
  const PrivateKey host = PrivateKey::generate();
  REQUIRE(door.register_account(account).status == 200);
  REQUIRE(door.register_host(account, host).status == 200);
  const std::string token = door.session(host);
  REQUIRE(door.ask_for_work(token).status == 200);
  door.use_up_asks(host);
  const RawResponse refused = door.ask_for_work(token);
  CHECK(refused.status == 429);
  CHECK(refused.headers.contains("Retry-After"));
}

TEST_CASE("ledgers are shown by run and entry, at a bounded rate") {
  Door door;
  CHECK(door.get("/v1/runs/none/ledger").status == 404);
  for (const char* query :
       {"from=x", "from=-1", "from=1x", "from=99999999999999999999",
        "from=18446744073709551615", "limit=0", "limit=-1", "limit=1e3",
        "from=1&limit=18446744073709551615"}) {
    CAPTURE(query);
    const RawResponse refused =
        door.get(fmt::format("/v1/runs/none/ledger?{}", query));
    CHECK(refused.status == 400);
    CHECK(refused.body.find("expected") != std::string::npos);
  }
  int status = 404;
  for (int i = 0; i < 1000 && status == 404; ++i) {
    status = door.get("/v1/runs/none/ledger?from=3").status;
  }
  CHECK(status == 429);
}

TEST_CASE("a volunteer deletes the account, and nobody else does") {
  Door door;
  const PrivateKey ann = PrivateKey::generate();
  const PrivateKey machine = PrivateKey::generate();
  const PrivateKey bob = PrivateKey::generate();
  const PrivateKey other = PrivateKey::generate();
  for (const auto& [account, host] :
       {std::pair(ann, machine), std::pair(bob, other)}) {
    REQUIRE(door.register_account(account).status == 200);
    REQUIRE(door.register_host(account, host).status == 200);
  }
  const std::string token = door.session(machine);
  const std::string bobs = door.session(other);
  // Without a session; in another's; with what was signed for another session.
  CHECK(door.delete_account(ann, "", "").status == 401);
  CHECK(door.delete_account(ann, bobs, bobs).status == 403);
  CHECK(door.delete_account(ann, token, bobs).status == 403);
  CHECK(door.delete_account(bob, token, token).status == 403);
  CHECK(door.register_host(ann, PrivateKey::generate()).status == 200);

  CHECK(door.delete_account(ann, token, token).status == 200);
  CHECK(door.delete_account(ann, token, token).status == 200);
  CHECK(door.ask_for_work(token).status == 403);
  const RawResponse again = door.register_account(ann);
  CHECK(again.status == 403);
  CHECK(again.body.find("was deleted") != std::string::npos);
  CHECK(door.register_host(bob, other).status == 200);
}

TEST_CASE("who has a session and asks is known by its address") {
  Door door;
  const PrivateKey account = PrivateKey::generate();
  const PrivateKey host = PrivateKey::generate();
  REQUIRE(door.register_account(account).status == 200);
  REQUIRE(door.register_host(account, host).status == 200);
  const std::string token = door.session(host);
  CHECK_FALSE(door.known_clients().contains("127.0.0.1"));
  CHECK(door.ask_for_work("stranger").status == 401);
  CHECK_FALSE(door.known_clients().contains("127.0.0.1"));
  CHECK(door.ask_for_work(token).status == 200);
  CHECK(door.known_clients().contains("127.0.0.1"));
}

}  // namespace quorate

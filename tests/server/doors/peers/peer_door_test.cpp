// Two projects over a real socket: the door and who asks at it.
#include "server/doors/peers/peer_door.h"

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "protocol/native/peer_messages.h"
#include "server/doors/native/native_door.h"
#include "server/http/server.h"
#include "server/orders/service.h"
#include "server/peers/peer_client.h"
#include "tests/server/new_project.h"
#include "tests/server/project_fixture.h"
#include "tests/support/raw_http.h"
#include "tests/support/samples.h"
#include "workunits/objects/safetensors.h"

namespace quorate {
namespace {

using nlohmann::json;

// A project that answers over HTTP, with a run that has just begun.
class Served {
 public:
  Served()
      : project_(test::new_project(folder_ / "project"),
                 test::without_house_workers(), Roles{},
                 [](const std::string&) {}) {
    Router routes;
    native_.add_routes(routes);
    door_.add_routes(routes);
    port_ = http_.listen({}, std::move(routes));
    add_run();
    project_.start();
    http_.start();
  }
  ~Served() {
    http_.stop(Seconds(0));
    project_.stop();
  }

  json order(const std::string& command, const json& arguments) {
    return AdminService(project_).call(command, arguments);
  }
  std::string url() const { return fmt::format("http://127.0.0.1:{}", port_); }
  std::string fingerprint() const {
    return quorate::fingerprint(project_.keys().id);
  }
  const ProjectId& id() const { return project_.keys().id; }
  const ModelSpec& model() {
    return project_.state().runs.begin()->second.run.model;
  }
  Hash initial() {
    return project_.state().runs.begin()->second.snapshot(
        project_.state().objects);
  }
  std::uint16_t port() const { return port_; }

 private:
  void add_run() {
    const DatasetManifest data = test::tiny_dataset(project_.state().objects);
    write_file_durably(project_.folder().manifest(data.name),
                       as_bytes(to_json(data)));
    order("train-create",
          {{"run", "theirs"}, {"model", "mlp:3"}, {"dataset", data.name}});
  }

  test::TemporaryFolder folder_;
  Project project_;
  NativeDoor native_{project_, ""};
  PeerDoor door_{project_};
  HttpServer http_{{}};
  std::uint16_t port_ = 0;
};

PeerQuestion question_to(Served& served, const PrivateKey& key,
                         const fs::path& folder) {
  Peer row;
  row.id = 1;
  row.url = served.url();
  row.fingerprint = served.fingerprint();
  row.peer_run = "theirs";
  row.weight = 0.5F;
  return {row, served.model(), project_id_of(key.public_key()), key, folder, "",
          0};
}

}  // namespace

TEST_CASE("no cache keeps what opens a session") {
  Served served;
  const std::string key(64, 'a');
  const auto reply_to = [&](const char* path, const std::string& body) {
    return test::RawHttp(served.port())
        .exchange(
            fmt::format("POST {} HTTP/1.1\r\nContent-Length: {}\r\n\r\n{}",
                        path, body.size(), body));
  };
  for (const auto& route : {std::pair("/v1/sessions", "host"),
                            std::pair("/v1/peers/sessions", "project")}) {
    CAPTURE(route.first);
    test::RawResponse reply = reply_to(
        route.first, fmt::format("{{\"{}\":\"{}\"}}", route.second, key));
    CHECK(reply.status == 200);
    CHECK(reply.headers["Cache-Control"] == "no-store");
  }
}

TEST_CASE("a peer may have had many keys; one whose time is over is refused") {
  Served served;
  test::TemporaryFolder place;
  ObjectStore objects(place / "objects", place / "tmp");
  const PrivateKey root = PrivateKey::generate();
  const PrivateKey key = PrivateKey::generate();
  PeerQuestion question = question_to(served, key, place / "peers");
  Keyring ring = keyring_of(root.public_key());
  ring.number = 1;
  while (ring.keys.size() + 1 < kMostSigningKeys) {
    ring.keys.push_back({PrivateKey::generate().public_key(), 0, 1, false});
  }
  ring.keys.push_back({key.public_key(), 0, 0, false});
  served.order("peers-allow",
               {{"project", fingerprint(ring.project)}, {"name", "friends"}});
  question.keyring = to_hex(seal_keyring(ring, root).sealed);
  CHECK(ask_peer(question, make_curl_transfer, objects, {}).model);
  ring.keys.back().until = 1;
  question.keyring = to_hex(seal_keyring(ring, root).sealed);
  CHECK_THROWS_WITH_AS(ask_peer(question, make_curl_transfer, objects, {}),
                       doctest::Contains("keys renew"), Error);
}

TEST_CASE("allowed projects take the model of a run, others are sent away") {
  Served served;
  test::TemporaryFolder place;
  ObjectStore objects(place / "objects", place / "tmp");
  const PrivateKey key = PrivateKey::generate();
  PeerQuestion question = question_to(served, key, place / "peers");
  const std::string own = fingerprint(project_id_of(key.public_key()));
  auto complaint = [&] {
    try {
      ask_peer(question, make_curl_transfer, objects, {});
    } catch (const Error& error) {
      CHECK(error.kind() == ErrorKind::denied);
      return std::string(error.what());
    }
    return std::string("taken");
  };
  CHECK(complaint().find("quorate peers allow " + own) != std::string::npos);
  // when the operator allows it
  served.order("peers-allow", {{"project", own}, {"name", "friends"}});
  const PeerAnswer answer = ask_peer(question, make_curl_transfer, objects, {});
  REQUIRE(answer.model);
  CHECK(answer.model->offer.version == 0);
  CHECK(answer.model->offer.entry == 0);
  CHECK(answer.model->offer.parameters == served.initial());
  CHECK(objects.contains(served.initial()));
  // then it has nothing new until the next version
  question.known_etag = answer.etag;
  CHECK_FALSE(ask_peer(question, make_curl_transfer, objects, {}).model);
  // and is sent away once it is allowed no more, and nobody else
  const std::string others =
      fingerprint(project_id_of(PrivateKey::generate().public_key()));
  served.order("peers-allow", {{"project", others}, {"name", "others"}});
  served.order("peers-disallow", {{"project", own}});
  CHECK(complaint() != "taken");
  const json allowed = served.order("peers-list", json::object())["allowed"];
  REQUIRE(allowed.size() == 1);
  CHECK(allowed[0]["name"] == "others");
  CHECK_THROWS_AS(served.order("peers-disallow", {{"project", own}}), Error);
}

TEST_CASE("a run that is not there, and one without a session, say so") {
  Served served;
  test::TemporaryFolder place;
  ObjectStore objects(place / "objects", place / "tmp");
  const PrivateKey key = PrivateKey::generate();
  served.order("peers-allow",
               {{"project", fingerprint(project_id_of(key.public_key()))}});
  PeerQuestion question = question_to(served, key, place / "peers");
  question.peer.peer_run = "none";
  CHECK_THROWS_WITH_AS(ask_peer(question, make_curl_transfer, objects, {}),
                       doctest::Contains("there is no run none"), Error);
  for (const char* path :
       {"/v1/runs/theirs/model", "/v1/runs/theirs/models/0"}) {
    const auto reply =
        test::RawHttp(served.port())
            .exchange(fmt::format("GET {} HTTP/1.1\r\n\r\n", path));
    CHECK(reply.status == 401);
    CHECK(reply.body.find("new session") != std::string::npos);
  }
}

TEST_CASE("a challenge is signed for this project, and used once") {
  Served served;
  const PrivateKey key = PrivateKey::generate();
  const std::string own = fingerprint(project_id_of(key.public_key()));
  served.order("peers-allow", {{"project", own}});
  protocol::PeerSessionRequest wanted;
  wanted.project = key.public_key();
  auto post = [&] {
    const std::string body = protocol::write(wanted);
    return test::RawHttp(served.port())
        .exchange(fmt::format("POST /v1/peers/sessions HTTP/1.1\r\n"
                              "Content-Length: {}\r\n\r\n{}",
                              body.size(), body));
  };
  auto status_signed_for = [&](const ProjectId& project) {
    wanted.signature =
        key.sign(protocol::peer_session_message(project, wanted));
    wanted.is_signed = true;
    return post().status;
  };
  const auto first = post();
  REQUIRE(first.status == 200);
  wanted.challenge = json::parse(first.body)["challenge"];
  CHECK(status_signed_for(test::sample_project()) == 403);
  CHECK(status_signed_for(served.id()) == 200);
  CHECK(status_signed_for(served.id()) == 403);
  wanted.challenge = std::string(64, 'a');  // never given
  CHECK(status_signed_for(served.id()) == 403);
}

TEST_CASE("the operator's orders about peers are checked") {
  Served served;
  const std::string other = "http://127.0.0.1:9#" + std::string(32, 'a');
  const json row =
      served.order("peers-add", {{"run", "theirs"}, {"address", other}});
  CHECK(row["id"] == 1);
  CHECK(row["peer_run"] == "theirs");
  CHECK(row["weight"] == 0.5);
  CHECK(row["every"] == 300);
  CHECK(row["own_project"] == served.fingerprint());
  CHECK(served.order("peers-list", json::object())["peers"].size() == 1);
  auto refused = [&](json arguments) {
    json whole = {{"run", "theirs"}, {"address", other}, {"peer_run", "b"}};
    whole.update(arguments);
    try {
      served.order("peers-add", whole);
    } catch (const Error& error) {
      CHECK(error.kind() == ErrorKind::usage);
      return true;
    }
    return false;
  };
  CHECK(refused({{"peer_run", "theirs"}}));  // is one already
  CHECK(refused({{"run", "none"}}));
  CHECK(refused({{"address", "http://127.0.0.1:9"}}));
  CHECK(refused({{"address", served.url() + "#" + served.fingerprint()}}));
  CHECK(refused({{"weight", 0}}));
  CHECK(refused({{"weight", 1}}));
  CHECK(refused({{"weight", "much"}}));
  CHECK(refused({{"every", 0.5}}));
  CHECK(refused({{"peer_run", "../project"}}));
  CHECK_FALSE(refused({{"weight", 0.25}, {"every", 5}}));
  served.order("peers-remove", {{"peer", 1}});
  CHECK_THROWS_AS(served.order("peers-remove", {{"peer", 1}}), Error);
  CHECK_THROWS_AS(served.order("peers-allow", {{"project", "abc"}}), Error);
  CHECK_THROWS_AS(
      served.order("peers-allow", {{"project", served.fingerprint()}}), Error);
}

}  // namespace quorate

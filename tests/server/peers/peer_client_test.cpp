// Taking a model from a peer: what is taken, what is refused, what goes on.
#include "server/peers/peer_client.h"

#include <algorithm>
#include <limits>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "base/error.h"
#include "server/peers/offer_check.h"
#include "tests/server/peers/fake_peer.h"
#include "tests/support/samples.h"
#include "tests/support/temporary_folder.h"
#include "workunits/objects/safetensors.h"

namespace quorate {
namespace {

struct Scene {
  PeerAnswer ask() { return ask_peer(question, peer.maker(), objects, {}); }
  // What is said, of this kind; "taken" if it is not refused.
  std::string complaint(ErrorKind kind) {
    try {
      ask();
    } catch (const Error& error) {
      CHECK(error.kind() == kind);
      return error.what();
    }
    return "taken";
  }
  bool has_rest(const char* what) {
    return fs::exists(question.folder / fmt::format("7.{}", what));
  }
  static PeerQuestion question_of(const test::FakePeer& peer,
                                  const fs::path& folder) {
    Peer row;
    row.id = 7;
    row.url = "http://peer.example";
    row.fingerprint = peer.fingerprint();
    row.peer_run = "theirs";
    row.every = 60;
    row.weight = 0.5F;
    return {row,
            test::sample_model(),
            test::sample_project(),
            test::sample_key(1),
            folder,
            "",
            0};
  }

  test::TemporaryFolder place;
  ObjectStore objects{place / "objects", place / "tmp"};
  test::FakePeer peer{test::sample_model()};
  PeerQuestion question = question_of(peer, place / "peers");
};

bool has(const std::string& text, const std::string& part) {
  CAPTURE(text);
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("a model is as large as its network says") {
  const ModelSpec model = test::sample_model();
  CHECK(parameter_bytes(model) ==
        write_parameters(model, std::vector<float>(parameter_count(model)))
            .size());
}

TEST_CASE("a peer's statement that has run out is not gone by") {
  Scene scene;
  scene.peer.expires = 1;
  CHECK(has(scene.complaint(ErrorKind::denied), "has run out"));
  scene.peer.expires = SystemClock().unix_ms() + 3'600'000;
  CHECK(scene.complaint(ErrorKind::denied) == "taken");
}

TEST_CASE("a peer's newest model is taken, with its word for it") {
  Scene scene;
  const PeerAnswer answer = scene.ask();
  REQUIRE(answer.model);
  CHECK(answer.model->peer == 7);
  CHECK(answer.model->offer.version == 1);
  CHECK(scene.objects.read(answer.model->offer.parameters) ==
        scene.peer.parameters);
  const ModelOffer kept =
      open_offer(scene.objects.read(answer.model->sealed_offer), "kept");
  CHECK(kept.parameters == answer.model->offer.parameters);
  CHECK(scene.peer.requests ==
        std::vector<std::string>{"GET /v1/project", "POST /v1/peers/sessions",
                                 "POST /v1/peers/sessions",
                                 "GET /v1/runs/theirs/model",
                                 "GET /v1/runs/theirs/models/1"});
  CHECK_FALSE(scene.has_rest("offer"));
  CHECK_FALSE(scene.has_rest("part"));
}

TEST_CASE("what has not changed is not fetched again") {
  Scene scene;
  scene.question.known_etag = scene.ask().etag;
  CHECK_FALSE(scene.ask().model);
  // given another offer of the same bits
  scene.question.known_etag.clear();
  scene.question.peer.last_parameters = scene.peer.offer.parameters;
  ++scene.peer.offer.version;
  CHECK_FALSE(scene.ask().model);
  CHECK(scene.peer.from.size() == 1);
  scene.peer.publish(0.5F);
  CHECK(scene.ask().model);
}

TEST_CASE("a download that broke off goes on, with the offer of then") {
  Scene scene;
  scene.peer.breaks_after = 100;
  CHECK(scene.complaint(ErrorKind::unavailable) == "the connection broke");
  CHECK(scene.has_rest("offer"));
  CHECK(fs::file_size(scene.question.folder / "7.part") == 100);
  SUBCASE("where it was") {
    REQUIRE(scene.ask().model);
    CHECK(scene.peer.from == std::vector<std::uint64_t>{0, 100});
    CHECK(scene.objects.read(scene.peer.offer.parameters) ==
          scene.peer.parameters);
  }
  SUBCASE("anew, if the peer has it no more") {
    scene.peer.has_model = false;
    CHECK(has(scene.complaint(ErrorKind::corrupt), "does not have it"));
    CHECK_FALSE(scene.has_rest("offer"));
    CHECK_FALSE(scene.has_rest("part"));
    scene.peer.has_model = true;
    CHECK(scene.ask().model);
  }
  SUBCASE("anew, if what was there is spoilt") {
    write_file_durably(scene.question.folder / "7.part",
                       Bytes(100, std::uint8_t{1}));
    CHECK(has(scene.complaint(ErrorKind::corrupt), "have the hash"));
    CHECK(scene.ask().model);
    CHECK(scene.peer.from == std::vector<std::uint64_t>{0, 100, 0});
  }
  SUBCASE("anew, if our run is another by now") {
    scene.peer.offer.model.widths = {2, 4, 2};
    scene.question.model = scene.peer.offer.model;
    scene.peer.publish(0.5F);
    CHECK(scene.ask().model);
    CHECK(scene.peer.from.back() == 0);
  }
}

TEST_CASE("offers that the run cannot take are refused, and nothing fetched") {
  Scene scene;
  std::string expected;
  SUBCASE("another network") {
    scene.peer.offer.model.widths = {2, 4, 2};
    expected = "its network is mlp";
  }
  SUBCASE("another arithmetic") {
    scene.peer.offer.arithmetic = 2;
    expected = "arithmetic 2, but this program has 1";
  }
  SUBCASE("another run") {
    scene.peer.offer.name = "others";
    expected = "expected run theirs, found run others";
  }
  SUBCASE("this project itself") {
    scene.question.own = project_id_of(scene.peer.key.public_key());
    expected = "an offer of this project itself";
  }
  SUBCASE("of a third project") {
    const PrivateKey stranger = PrivateKey::generate();
    ModelOffer offer = scene.peer.offer;
    offer.keys = keyring_of(stranger.public_key());
    scene.peer.sent_offer = seal_offer(offer, stranger);
    expected = "expected an offer of project";
  }
  SUBCASE("no offer") {
    scene.peer.sent_offer = Bytes(300, std::uint8_t{'x'});
    expected = "offer of http://peer.example";
  }
  CHECK(has(scene.complaint(ErrorKind::corrupt), expected));
  CHECK(scene.peer.from.empty());
  CHECK_FALSE(scene.has_rest("offer"));
}

TEST_CASE("spoilt models are refused, and forgotten") {
  Scene scene;
  std::string expected;
  SUBCASE("not finite") {
    scene.peer.publish(std::numeric_limits<float>::infinity());
    expected = "not finite";
  }
  SUBCASE("no numbers") {
    scene.peer.publish(std::numeric_limits<float>::quiet_NaN());
    expected = "not finite";
  }
  SUBCASE("other bytes than offered") {
    scene.peer.parameters.back() ^= 1;
    expected = "have the hash";
  }
  SUBCASE("longer than the network") {
    scene.peer.parameters.resize(scene.peer.parameters.size() + 1);
    scene.peer.offer.parameters = sha256(scene.peer.parameters);
    expected = "sends more than its";
  }
  SUBCASE("of another shape") {
    const std::string text = "\"0.weight\"";
    const auto at =
        std::search(scene.peer.parameters.begin(), scene.peer.parameters.end(),
                    text.begin(), text.end());
    REQUIRE(at != scene.peer.parameters.end());
    at[1] = '9';
    scene.peer.offer.parameters = sha256(scene.peer.parameters);
    expected = "version 1 of http://peer.example";
  }
  CHECK(has(scene.complaint(ErrorKind::corrupt), expected));
  CHECK_FALSE(scene.has_rest("part"));
  CHECK_FALSE(scene.has_rest("offer"));
  CHECK_FALSE(scene.objects.contains(scene.peer.offer.parameters));
  // A good one is taken afterwards.
  scene.peer.publish(0.5F);
  CHECK(scene.ask().model);
}

TEST_CASE("who does not let us in, or is somebody else, is left alone") {
  Scene scene;
  scene.peer.lets_in = false;
  CHECK(has(scene.complaint(ErrorKind::denied), "may not take models"));
  scene.peer.lets_in = true;
  scene.question.peer.fingerprint = std::string(32, '0');
  CHECK(has(scene.complaint(ErrorKind::denied), "expected project 0000"));
  scene.question.peer.fingerprint = scene.peer.fingerprint();
  scene.peer.is_away = true;
  CHECK(has(scene.complaint(ErrorKind::unavailable), "no route"));
  CHECK(scene.peer.from.empty());
}

TEST_CASE("a disk that would be full is not filled") {
  Scene scene;
  scene.question.disk_reserve_bytes = std::uint64_t{1} << 62;
  CHECK(has(scene.complaint(ErrorKind::io), "make room"));
  CHECK(scene.peer.from.empty());
}

}  // namespace quorate

// When peers are asked, and what becomes of the answers.
#include "server/peers/peer_gossip.h"

#include <deque>

#include <doctest/doctest.h>

#include "base/error.h"
#include "tests/server/peers/fake_peer.h"
#include "tests/server/project_fixture.h"

namespace quorate {
namespace {

using test::check_ledger;
using test::FakePeer;
using test::ProjectFixture;
using test::ProjectOptions;
using test::Volunteer;

ProjectOptions alone() {
  ProjectOptions options;
  options.quorum = 1;
  options.epochs = 4;
  return options;
}

// A project whose looks happen when a test says so.
struct Scene {
  Scene() {
    gossip.start_with([this](Job job) { looks.push_back(std::move(job)); });
  }

  PeerId add(const FakePeer& whom, double every = 60) {
    Peer row;
    row.run = project.run().run.key;
    row.url = "http://peer.example";
    row.fingerprint = whom.fingerprint();
    row.peer_run = "theirs";
    row.every = every;
    row.weight = 0.5F;
    project.job([&] {
      row.id = project.state().store.insert_peer(row);
      gossip.reload();
    });
    return row.id;
  }
  // Begins a look if one is due, and does it. False: none was due.
  bool look() {
    project.job([&] { gossip.pass(); });
    if (looks.empty()) return false;
    finish_look();
    return true;
  }
  void finish_look() {
    Job job = std::move(looks.front());
    looks.pop_front();
    job();
    project.job([&] {
      for (Job& news : posted) news();
      posted.clear();
    });
  }
  std::uint64_t mixed() { return project.state().store.peers().at(0).mixed; }

  ProjectFixture project{alone()};
  FakePeer peer{project.run().run.model};
  std::deque<Job> looks;
  std::deque<Job> posted;
  PeerGossip gossip{project.state(),
                    [this](Job job) { posted.push_back(std::move(job)); },
                    peer.maker()};
};

}  // namespace

TEST_CASE("a peer is asked again and again, and its news are mixed in") {
  Scene scene;
  CHECK_FALSE(scene.look());  // there is none
  const PeerId id = scene.add(scene.peer);
  CHECK(scene.look());
  CHECK(scene.mixed() == 1);
  CHECK(scene.project.run().model.version() == 1);
  CHECK_FALSE(scene.look());
  scene.project.pass(Seconds(59));
  CHECK_FALSE(scene.look());
  scene.project.pass(Seconds(1));
  CHECK(scene.look());  // nothing new
  CHECK(scene.mixed() == 1);
  CHECK(scene.gossip.standings().at(id).problem == "");
  scene.peer.publish(0.5F);
  scene.project.pass(Seconds(60));
  CHECK(scene.look());
  CHECK(scene.mixed() == 2);
  CHECK(scene.project.run().model.version() == 2);
  check_ledger(scene.project);
}

TEST_CASE("a peer that is away is asked less and less often, and said once") {
  Scene scene;
  const PeerId id = scene.add(scene.peer, 600);
  scene.peer.is_away = true;
  Seconds waited{0};
  for (std::uint32_t failures = 1; failures < 12; ++failures) {
    REQUIRE(scene.look());
    const PeerStanding& standing = scene.gossip.standings().at(id);
    CHECK(standing.failures == failures);
    const Seconds pause = standing.next - scene.project.clock.now();
    CHECK(pause > Seconds(0.9));
    CHECK(pause <= Seconds(600));
    waited += pause;
    scene.project.pass(pause);
  }
  CHECK(waited > Seconds(1000));
  CHECK(scene.project.events("peer_failed") == 1);
  CHECK(scene.gossip.standings().at(id).problem.find("no route") == 0);
  // when it is back
  scene.peer.is_away = false;
  CHECK(scene.look());
  CHECK(scene.mixed() == 1);
  CHECK(scene.project.events("peer_back") == 1);
  CHECK(scene.gossip.standings().at(id).failures == 0);
}

TEST_CASE("the training goes on while a peer is asked") {
  Scene scene;
  scene.add(scene.peer);
  scene.project.job([&] { scene.gossip.pass(); });
  REQUIRE(scene.looks.size() == 1);
  Volunteer ann = scene.project.join();
  scene.project.report(ann, scene.project.take(ann));
  CHECK(scene.project.run().model.version() == 1);
  CHECK(scene.looks.size() == 1);  // and no second look is begun
}

TEST_CASE("only runs that go on look, and what is removed is forgotten") {
  Scene scene;
  const PeerId id = scene.add(scene.peer);
  scene.project.job([&] { scene.project.run().run.state = RunState::paused; });
  CHECK_FALSE(scene.look());
  scene.project.job([&] { scene.project.run().run.state = RunState::running; });
  // given a look under way while the operator removes the peer
  scene.project.job([&] { scene.gossip.pass(); });
  REQUIRE(scene.looks.size() == 1);
  SUBCASE("that finds a model") {}
  SUBCASE("that fails") {
    scene.peer.is_away = true;
  }
  scene.project.job([&] {
    scene.project.state().store.remove_peer(id);
    scene.gossip.reload();
  });
  scene.finish_look();
  CHECK(scene.project.run().model.version() == 0);
  CHECK(scene.gossip.standings().empty());
  CHECK(scene.project.events("peer_failed") == 0);
  CHECK_FALSE(scene.look());
}

TEST_CASE("the pause grows with failures, up to the peer's own, or a minute") {
  Peer peer;
  peer.every = 2;
  CHECK(pause_after(peer, 0) == Seconds(2));
  CHECK(pause_after(peer, 1) <= Seconds(2));
  CHECK(pause_after(peer, 30) >= Seconds(30));
  CHECK(pause_after(peer, 30) <= Seconds(60));
  peer.every = 1000;
  CHECK(pause_after(peer, 0) == Seconds(1000));
  CHECK(pause_after(peer, 30) >= Seconds(500));
}

}  // namespace quorate

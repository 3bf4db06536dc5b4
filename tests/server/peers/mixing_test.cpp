// Models of peers in a run that trains: when they are mixed in, and what of it
// is there after a restart. That they come over a wire is not of here.
#include <limits>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include "base/arithmetic.h"
#include "server/orders/runs/change_run.h"
#include "tests/server/project_fixture.h"
#include "workunits/objects/safetensors.h"

namespace quorate {
namespace {

using test::check_ledger;
using test::ProjectFixture;
using test::ProjectOptions;
using test::Volunteer;

ProjectOptions alone(const char* rule, const char* settings = "") {
  ProjectOptions options;
  options.rule = rule;
  options.rule_settings = settings;
  options.quorum = 1;
  options.epochs = 4;
  options.on_disk = true;
  return options;
}

PeerId add_peer(ProjectFixture& project) {
  Peer peer;
  peer.run = project.run().run.key;
  peer.url = "http://127.0.0.1:1";
  peer.peer_run = "theirs";
  peer.weight = 0.5F;
  PeerId id = 0;
  project.job([&] { id = project.state().store.insert_peer(peer); });
  return id;
}

// All parameters of it are `fill`.
PeerModel fetched(ProjectFixture& project, PeerId peer, float fill) {
  const ModelSpec& spec = project.run().run.model;
  const std::vector<float> values(parameter_count(spec), fill);
  ModelOffer offer;
  offer.name = "theirs";
  offer.model = spec;
  offer.arithmetic = kArithmeticVersion;
  offer.version = 12;
  offer.parameters = project.state().objects.put(parameter_parts(spec, values));
  const PrivateKey key = PrivateKey::generate();
  offer.keys = keyring_of(key.public_key());
  const Bytes sealed = seal_offer(offer, key);
  return {peer, offer, project.state().objects.put(ByteView(sealed))};
}

void arrive(ProjectFixture& project, const PeerModel& model) {
  project.job([&] { project.run().from_peers[model.peer] = model; });
}

std::vector<PeerMixed> mixed(ProjectFixture& project) {
  std::vector<PeerMixed> found;
  for (const LedgerEntry& entry : project.ledger()) {
    if (const auto* body = std::get_if<PeerMixed>(&entry.body)) {
      found.push_back(*body);
    }
  }
  return found;
}

}  // namespace

TEST_CASE("a peer's model is mixed in at once where results are taken so") {
  ProjectFixture project(alone("vc-asgd"));
  Volunteer ann = project.join();
  project.report(ann, project.take(ann));
  const Assignment under_way = project.take(ann);
  const PeerId peer = add_peer(project);
  const std::vector<float> before = project.run().model.parameters();
  arrive(project, fetched(project, peer, 0.25F));
  CHECK(project.run().model.version() == 2);
  for (std::size_t i = 0; i < before.size(); ++i) {
    REQUIRE(project.run().model.parameters()[i] ==
            fma(0.5F, 0.25F - before[i], before[i]));
  }
  REQUIRE(mixed(project).size() == 1);
  CHECK(mixed(project)[0].one_minus_c == 1.0F - 0.9F);
  CHECK(project.events("peer_mixed") == 1);
  const Peer row = project.state().store.peers().at(0);
  CHECK(row.mixed == 1);
  CHECK(row.last_version == 12);
  CHECK(row.last_parameters == mixed(project)[0].parameters);
  // What was under way counts.
  CHECK(project.report(ann, under_way).accepted);
  CHECK(project.assimilated().back().staleness == 1);
  const std::vector<float> now = project.run().model.parameters();
  project.reopen();
  CHECK(project.run().model.parameters() == now);
  check_ledger(project);
  project.train_to_end({ann});
  CHECK(project.run().run.state == RunState::finished);
  check_ledger(project);
}

TEST_CASE("between two rounds, not inside one") {
  ProjectOptions options = alone("diloco");
  options.round_units = 2;
  ProjectFixture project(options);
  Volunteer ann = project.join(), bob = project.join();
  const PeerId peer = add_peer(project);
  const Assignment first = project.take(ann), second = project.take(bob);
  arrive(project, fetched(project, peer, 0.25F));
  CHECK(project.run().model.version() == 0);
  CHECK(project.run().from_peers.size() == 1);
  // when a newer one comes, it takes the other's place
  arrive(project, fetched(project, peer, 0.5F));
  project.report(ann, first);
  project.report(bob, second);
  CHECK(project.run().model.version() == 2);
  CHECK(project.run().from_peers.empty());
  REQUIRE(mixed(project).size() == 1);
  CHECK(mixed(project)[0].version_before == 1);
  // All units of the next round start from the mixed model.
  const Assignment third = project.take(ann), fourth = project.take(bob);
  CHECK(project.unit_of(third.result).base_version == 2);
  CHECK(project.unit_of(fourth.result).base_version == 2);
  project.reopen();
  project.report(ann, third);
  project.report(bob, fourth);
  CHECK(project.run().model.version() == 3);
  check_ledger(project);
}

TEST_CASE("replicas are mixed, too, and go on after a restart") {
  for (const char* rule : {"gossip", "easgd"}) {
    CAPTURE(rule);
    ProjectFixture project(alone(rule, "{\"replicas\":2}"));
    Volunteer ann = project.join(), bob = project.join();
    const PeerId peer = add_peer(project);
    // given one before the replicas have begun, and one after
    arrive(project, fetched(project, peer, 0.125F));
    const Assignment kept = project.take(bob);
    project.report(ann, project.take(ann));
    arrive(project, fetched(project, peer, 0.25F));
    const RuleState state = project.run().model.rule_state();
    const std::vector<float> now = project.run().model.parameters();
    project.reopen();
    CHECK(project.run().model.rule_state() == state);
    CHECK(project.run().model.parameters() == now);
    project.report(bob, kept);
    project.train_to_end({ann, bob});
    CHECK(mixed(project).size() == 2);
    check_ledger(project);
  }
}

TEST_CASE("the version that a collected step is due with is never a peer's") {
  for (const char* settings : {"{\"buffer\":2}", "{\"delay\":2}"}) {
    const bool is_buffer = std::string(settings).find("buffer") < 5;
    ProjectFixture project(
        alone(is_buffer ? "fedbuff" : "delayed-nesterov", settings));
    Volunteer ann = project.join();
    const PeerId peer = add_peer(project);
    project.report(ann, project.take(ann));
    arrive(project, fetched(project, peer, 0.25F));
    CHECK(project.run().model.version() == 1);
    project.report(ann, project.take(ann));
    CHECK(project.run().model.version() == 3);
    REQUIRE(mixed(project).size() == 1);
    CHECK(mixed(project)[0].version_after == 3);
    check_ledger(project);
  }
}

TEST_CASE("with a step in every version none is lost") {
  for (const auto& each : {std::pair{"fedbuff", "{\"buffer\":1}"},
                           std::pair{"delayed-nesterov", "{\"delay\":1}"}}) {
    const char* rule = each.first;
    CAPTURE(rule);
    ProjectFixture project(alone(rule, each.second));
    Volunteer ann = project.join();
    const PeerId peer = add_peer(project);
    arrive(project, fetched(project, peer, 0.25F));
    CHECK(mixed(project).size() == 1);
    project.report(ann, project.take(ann));
    check_ledger(project);
  }
}

TEST_CASE(
    "a peer's model between a change of replicas and their first result") {
  ProjectFixture project(alone("gossip", "{\"replicas\":2}"));
  Volunteer ann = project.join();
  for (int i = 0; i < 3; ++i) project.report(ann, project.take(ann));
  const PeerId peer = add_peer(project);
  project.job([&] {
    change_run(project.state(), project.daemons(), project.run(),
               nlohmann::json::parse(
                   R"({"rule": "eamsgd", "rule_settings": {"replicas": 2}})"));
  });
  const Assignment before = project.take(ann);
  arrive(project, fetched(project, peer, 0.25F));
  CHECK(mixed(project).size() == 1);
  CHECK(project.report(ann, before).accepted);
  CHECK(project.assimilated().back().staleness == 1);
  check_ledger(project);
}

TEST_CASE("rounded versions go on after a peer's model, and lead on from it") {
  ProjectOptions options = alone("diloco", "{\"snapshots\":\"int4\"}");
  options.round_units = 1;
  options.local_steps = 2;
  options.model = "mlp:64";
  ProjectFixture project(options);
  Volunteer ann = project.join();
  const PeerId peer = add_peer(project);
  project.report(ann, project.take(ann));
  project.report(ann, project.take(ann));
  CHECK(project.take(ann).deltas.size() == 2);
  project.reopen();
  project.train_to_end({});
  const std::vector<Assignment> lost = project.ask(ann).assignments;
  REQUIRE(lost.size() == 1);
  project.report(ann, lost[0]);
  arrive(project, fetched(project, peer, 0.25F));
  REQUIRE(mixed(project).size() == 1);
  CHECK(project.run().model.parameters() ==
        project.run().model.rule_state().at(kUnrounded));
  const Assignment whole = project.take(ann);
  CHECK(whole.deltas.empty());
  project.report(ann, whole);
  const Assignment next = project.take(ann);
  REQUIRE(next.deltas.size() == 1);
  CHECK(next.deltas[0].from == whole.objects.at(1).hash);
  const std::vector<float> now = project.run().model.parameters();
  project.reopen();
  CHECK(project.run().model.parameters() == now);
  check_ledger(project);
}

TEST_CASE("a paused run waits, and what is gone or of nobody is dropped") {
  ProjectFixture project(alone("vc-asgd"));
  const PeerId peer = add_peer(project);
  project.job([&] { project.run().run.state = RunState::paused; });
  arrive(project, fetched(project, peer, 0.25F));
  CHECK(mixed(project).empty());
  project.job([&] { project.run().run.state = RunState::running; });
  CHECK(mixed(project).size() == 1);
  // given models whose objects went, or of a peer that was removed
  PeerModel gone = fetched(project, peer, 0.5F);
  project.state().objects.remove(gone.offer.parameters);
  arrive(project, gone);
  arrive(project, fetched(project, peer + 1, 0.5F));
  CHECK(project.run().from_peers.empty());
  CHECK(mixed(project).size() == 1);
  // or that are not finite, which whoever fetches them refuses
  const float infinite = std::numeric_limits<float>::infinity();
  arrive(project, fetched(project, peer, infinite));
  CHECK(mixed(project).size() == 1);
  CHECK(project.events("peer_failed") == 1);
  CHECK(project.run().run.state == RunState::running);
  check_ledger(project);
}

TEST_CASE("what a crash undid is not mixed in") {
  ProjectFixture project(alone("vc-asgd"));
  const PeerId peer = add_peer(project);
  const PeerModel model = fetched(project, peer, 0.25F);
  project.crash_during([&] {
    project.run().from_peers[peer] = model;
    project.daemons().settle();
  });
  CHECK(project.run().model.version() == 0);
  CHECK(mixed(project).empty());
  CHECK(project.state().store.peers().at(0).mixed == 0);
  arrive(project, model);
  CHECK(mixed(project).size() == 1);
  check_ledger(project);
}

TEST_CASE("a sweep keeps models of peers that wait, and those in the ledger") {
  ProjectFixture project(alone("vc-asgd"));
  const PeerId peer = add_peer(project);
  const PeerModel in = fetched(project, peer, 0.25F);
  arrive(project, in);
  project.job([&] { project.run().run.state = RunState::paused; });
  const PeerModel waiting = fetched(project, peer, 0.5F);
  arrive(project, waiting);
  const PeerModel unknown = fetched(project, peer, 0.75F);
  ObjectStore& objects = project.state().objects;
  for (const PeerModel& model : {in, waiting, unknown}) {
    for (const Hash& hash : {model.offer.parameters, model.sealed_offer}) {
      fs::last_write_time(objects.path(hash),
                          objects.now() - std::chrono::hours(24 * 400));
    }
  }
  project.daemons().file_deleter.sweep();
  CHECK(objects.contains(in.offer.parameters));
  CHECK(objects.contains(in.sealed_offer));
  CHECK(objects.contains(waiting.offer.parameters));
  CHECK(objects.contains(waiting.sealed_offer));
  CHECK_FALSE(objects.contains(unknown.offer.parameters));
}

}  // namespace quorate

// The assimilator's part in gossip between servers: when a peer's model that
// was fetched becomes part of the run's.
#include <fmt/format.h>

#include "base/error.h"
#include "server/merging/assimilator.h"
#include "workunits/objects/safetensors.h"

namespace quorate {
namespace {

const Peer* find_peer(const std::vector<Peer>& peers, PeerId id) {
  for (const Peer& peer : peers) {
    if (peer.id == id) return &peer;
  }
  return nullptr;
}

PeerMixed entry_of(const TrainingRun& training, const Peer& peer,
                   const PeerModel& model) {
  PeerMixed entry;
  entry.version_before = training.model.version();
  entry.version_after = entry.version_before + 1;
  entry.peer = model.offer.keys.root;
  entry.peer_run = model.offer.run;
  entry.peer_version = model.offer.version;
  entry.parameters = model.offer.parameters;
  entry.offer = model.sealed_offer;
  entry.weight = peer.weight;
  entry.one_minus_c = 1.0F - training.rule->average();
  return entry;
}

}  // namespace

bool Assimilator::may_mix(const TrainingRun& training) {
  if (training.run.state != RunState::running) return false;
  // All units of a round start from one version.
  if (training.rule->in_rounds()) return training.cursor.round_made == 0;
  // With every version a step none is lost.
  const std::uint64_t version = training.model.version();
  return !training.rule->is_step_due(version) ||
         training.rule->is_step_due(version + 1);
}

void Assimilator::mix_peers(TrainingRun& training) {
  if (is_stepping(training)) return;
  while (!training.from_peers.empty() && may_mix(training)) {
    const PeerModel model = training.from_peers.begin()->second;
    training.from_peers.erase(training.from_peers.begin());
    mix(training, model);
  }
}

void Assimilator::mix(TrainingRun& training, const PeerModel& model) {
  const std::vector<Peer> peers = state_.store.peers();
  const Peer* found = find_peer(peers, model.peer);
  if (found == nullptr) return;  // removed meanwhile
  PeerMixed entry = entry_of(training, *found, model);
  // They may have waited for long: from now on the ledger names them.
  if (!state_.objects.renew(entry.parameters) ||
      !state_.objects.renew(entry.offer)) {
    return;  // it is fetched again
  }
  const std::string project = fingerprint(project_id_of(entry.peer));
  try {
    training.model.mix(
        entry, map_parameters(training.run.model,
                              state_.objects.map_checked(entry.parameters),
                              "model of peer " + project));
  } catch (const Error& error) {
    // Damaged here since it came: the training does without it.
    if (error.kind() != ErrorKind::corrupt) throw;
    state_.record("peer_failed", training.run.key, 0, error.what());
    return;
  }
  Peer peer = *found;
  ++peer.mixed;
  peer.last_version = entry.peer_version;
  peer.last_parameters = entry.parameters;
  peer.last_time = state_.clock.unix_ms();
  state_.store.update_peer(peer);
  state_.record(
      "peer_mixed", training.run.key, 0,
      fmt::format("run {}: version {} contains version {} of run {} of project "
                  "{}, weight {}",
                  training.run.name, entry.version_after, entry.peer_version,
                  model.offer.name, project, entry.weight));
  append(training, std::move(entry));
}

}  // namespace quorate

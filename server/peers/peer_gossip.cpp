#include "server/peers/peer_gossip.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "base/log.h"
#include "base/retry.h"

namespace quorate {
namespace {

constexpr Seconds kFirstPause{2};
constexpr Seconds kLeastLongPause{60};

// What is left of downloads from peers that were removed.
void clean(const fs::path& folder, const std::set<PeerId>& known) {
  std::error_code none;
  std::vector<fs::path> old;
  for (const auto& file : fs::directory_iterator(folder, none)) {
    const std::string name = file.path().stem().string();
    const bool is_known =
        std::any_of(known.begin(), known.end(),
                    [&](PeerId id) { return std::to_string(id) == name; });
    if (!is_known) old.push_back(file.path());
  }
  for (const fs::path& file : old) fs::remove(file, none);
}

}  // namespace

Seconds pause_after(const Peer& peer, std::uint32_t failures) {
  const Seconds every(peer.every);
  if (failures == 0) return every;
  return retry_delay(failures, static_cast<std::uint64_t>(peer.id), kFirstPause,
                     std::max(kLeastLongPause, every));
}

PeerGossip::PeerGossip(ProjectState& state, std::function<void(Job)> post,
                       TransferMaker make)
    : state_(state), post_(std::move(post)), make_(std::move(make)) {
  reload();
}

PeerGossip::~PeerGossip() {
  stop();
}

void PeerGossip::start() {
  thread_ = std::make_unique<JobThread>();
  aside_ = [this](Job job) { thread_->post(std::move(job)); };
}

void PeerGossip::stop() {
  stop_.request_stop();
  // Not destroyed yet: the writer may be posting to it.
  if (thread_) thread_->stop();
}

void PeerGossip::reload() {
  std::set<PeerId> known;
  for (const Peer& peer : state_.store.peers()) {
    known.insert(peer.id);
    standings_.try_emplace(peer.id);
    run_of_[peer.id] = peer.run;
  }
  std::erase_if(standings_,
                [&](const auto& one) { return !known.contains(one.first); });
  std::erase_if(run_of_,
                [&](const auto& one) { return !known.contains(one.first); });
  for (auto& [key, training] : state_.runs) {
    std::erase_if(training.from_peers,
                  [&](const auto& one) { return !known.contains(one.first); });
  }
  // Not those of a look under way: it may be of a peer that stays.
  if (!is_busy_) clean(state_.folder.peers(), known);
}

void PeerGossip::pass() {
  if (!aside_ || is_busy_ || standings_.empty()) return;
  if (const std::optional<Peer> peer = due_peer()) begin(*peer);
}

// Of those that are due, the one that has waited longest.
std::optional<Peer> PeerGossip::due_peer() {
  const Instant now = state_.clock.now();
  std::optional<PeerId> chosen;
  for (const auto& [id, standing] : standings_) {
    if (standing.next > now) continue;
    const TrainingRun& training = state_.run(run_of_.at(id));
    // What waits is mixed in first.
    if (training.run.state != RunState::running || !training.is_loaded ||
        training.from_peers.contains(id)) {
      continue;
    }
    if (!chosen || standing.next < standings_.at(*chosen).next) chosen = id;
  }
  if (!chosen) return std::nullopt;
  for (const Peer& peer : state_.store.peers()) {
    if (peer.id == *chosen) return peer;
  }
  return std::nullopt;
}

void PeerGossip::begin(const Peer& peer) {
  is_busy_ = true;
  PeerQuestion question{peer,
                        state_.run(peer.run).run.model,
                        state_.keys.id,
                        state_.keys.project,
                        state_.folder.peers(),
                        standings_.at(peer.id).etag,
                        state_.settings.disk_reserve_mb << 20,
                        to_hex(state_.keys.ring.sealed)};
  aside_([this, question = std::move(question)] { ask(question); });
}

// Beside the writer's thread.
void PeerGossip::ask(const PeerQuestion& question) {
  const PeerId id = question.peer.id;
  try {
    PeerAnswer answer =
        ask_peer(question, make_, state_.objects, stop_.get_token());
    post_([this, id, answer = std::move(answer)] { end(id, answer); });
  } catch (const std::exception& error) {
    if (stop_.stop_requested()) return;
    post_([this, id, why = std::string(error.what())] { fail(id, why); });
  }
}

void PeerGossip::end(PeerId id, const PeerAnswer& answer) {
  is_busy_ = false;
  const auto found = standings_.find(id);
  if (found == standings_.end()) return;  // removed meanwhile
  PeerStanding& standing = found->second;
  const RunKey run = run_of_.at(id);
  if (!standing.problem.empty()) {
    state_.record("peer_back", run, 0, fmt::format("peer {} is back", id));
  }
  standing.problem.clear();
  standing.failures = 0;
  standing.has_looked = true;
  // Until it is in the model it may have to be fetched again.
  standing.etag = answer.model ? "" : answer.etag;
  for (const Peer& peer : state_.store.peers()) {
    if (peer.id != id) continue;
    standing.next = state_.clock.now() + pause_after(peer, 0);
  }
  TrainingRun& training = state_.run(run);
  if (answer.model && training.is_active()) {
    training.from_peers[id] = *answer.model;
  }
}

void PeerGossip::fail(PeerId id, const std::string& why) {
  is_busy_ = false;
  const auto found = standings_.find(id);
  if (found == standings_.end()) return;
  PeerStanding& standing = found->second;
  ++standing.failures;
  standing.has_looked = true;
  for (const Peer& peer : state_.store.peers()) {
    if (peer.id != id) continue;
    standing.next = state_.clock.now() + pause_after(peer, standing.failures);
  }
  if (standing.problem == why) return;
  standing.problem = why;  // once, not with every look
  state_.record("peer_failed", run_of_.at(id), 0,
                fmt::format("peer {}: {}; it will be asked again", id, why));
}

}  // namespace quorate

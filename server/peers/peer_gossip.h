// Gossip between project servers: looks now and then whether a peer has a new
// version of its model, fetches it, and hands it to the assimilator, which
// mixes it in when the run comes to it. Looks happen on a thread of their own,
// one after the other, so that the links are left to volunteers; a peer that is
// away is asked less and less often, and the training never waits for one.
//
// The room server/peers owns this thread, the downloads in peers/, and how it
// stands with each peer (memory, the writer's thread). What was fetched and not
// yet mixed in is fetched again after a crash. It may include protocol/transfer
// and server/merging.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>

#include "server/peers/peer_client.h"
#include "server/state/project_state.h"
#include "server/writer/job_thread.h"

namespace quorate {

// How it stands with one peer since the server's start.
struct PeerStanding {
  Instant next{};              // look; in the past: at once
  std::uint32_t failures = 0;  // since the last look that went well
  std::string problem;         // of the last look; empty: none
  bool has_looked = false;
  std::string etag;  // of the offer that was taken, or seen to be old
};

// When to look again after that many failures in a row; 0: the last went well.
Seconds pause_after(const Peer& peer, std::uint32_t failures);

class PeerGossip {
 public:
  // post: a job for the writer that ends with Daemons::settle().
  PeerGossip(ProjectState& state, std::function<void(Job)> post,
             TransferMaker make = make_curl_transfer);
  ~PeerGossip();

  // Runs a job beside the writer's, some time after it is called.
  using Aside = std::function<void(Job)>;

  void start();  // with a thread of its own
  void start_with(Aside aside) { aside_ = std::move(aside); }
  void stop();

  // The writer's thread, all of these.
  // Begins a look that is due, if none is under way.
  void pass();
  // The store's peers have changed: those that are new are looked at next.
  void reload();
  const std::map<PeerId, PeerStanding>& standings() const { return standings_; }

 private:
  std::optional<Peer> due_peer();
  void begin(const Peer& peer);
  void ask(const PeerQuestion& question);
  void end(PeerId id, const PeerAnswer& answer);
  void fail(PeerId id, const std::string& why);

  ProjectState& state_;
  std::function<void(Job)> post_;
  TransferMaker make_;
  Aside aside_;  // empty: not started
  std::unique_ptr<JobThread> thread_;
  std::stop_source stop_;
  bool is_busy_ = false;
  std::map<PeerId, PeerStanding> standings_;
  std::map<PeerId, RunKey> run_of_;
};

}  // namespace quorate

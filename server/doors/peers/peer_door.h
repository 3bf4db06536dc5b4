// The door for other projects' servers: those that the operator allows may take
// the published models of runs, each proving its project key first. They see
// nothing else: no updates, no hosts. docs/protocol.md, "Peers".
//
// The room server/doors/peers owns the peers' sessions, limits, and the sealed
// offer of each run's newest version. All but the parsing happens on the
// writer's thread.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>

#include "server/doors/sessions.h"
#include "server/hosts/join_limit.h"
#include "server/http/router.h"
#include "server/project/project.h"

namespace quorate {

class PeerDoor {
 public:
  explicit PeerDoor(Project& project);

  void add_routes(Router& router);

 private:
  void post_session(const Request& request, Responder responder);
  // The newest published version of a run, sealed; with an ETag, so that a peer
  // that has it hears 304.
  void get_offer(const Request& request, Responder responder);
  void get_model(const Request& request, Responder responder);
  // Answers with `job` on the writer's thread, if the peer that asks has a
  // session, is allowed, and does not ask too often.
  void answer(const Request& request, Responder responder,
              std::function<Response()> job);
  Response offer_response(const std::string& run);
  Response model_response(const std::string& run, std::uint64_t entry);
  // Throws denied, saying what to do, unless the operator allows it.
  void expect_allowed(const PublicKey& peer);

  Project& project_;
  ProjectState& state_;
  Sessions sessions_;
  // The writer's thread:
  JoinLimit attempts_;  // to open a session, by place
  JoinLimit requests_;  // by peer
  // The last of each run, by the hash of its ledger record: a seal costs more
  // than the rest.
  std::map<RunKey, std::pair<Hash, Bytes>> offers_;
};

}  // namespace quorate

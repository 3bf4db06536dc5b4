// What a project keeps of other projects that train the same networks: whose
// models it mixes into its own, and who may take its own. Data only.
#pragma once

#include <cstdint>
#include <string>

#include "base/crypto.h"
#include "workunits/workunit.h"

namespace quorate {

using PeerId = std::int64_t;

// A run of another project, whose model a run of ours takes now and then.
struct Peer {
  PeerId id = 0;
  RunKey run = 0;           // ours
  std::string url;          // "https://host:port"
  std::string fingerprint;  // of the other project, 32 to 64 digits
  std::string peer_run;     // name of its run
  double every = 0;         // seconds from one look to the next
  float weight = 0.0F;      // of its model: PeerMixed
  // What was mixed in: how often, and the last.
  std::uint64_t mixed = 0;
  std::uint64_t last_version = 0;  // of the peer
  Hash last_parameters;
  Millis last_time = 0;
};

// A project that may take the models of our runs.
struct AllowedPeer {
  std::string fingerprint;  // 32 to 64 digits
  std::string name;         // what the operator calls it; may be empty
  Millis since = 0;
};

}  // namespace quorate

// audit and replay --recompute: is what hosts claimed what their units give?
// One walk over the ledger, with the replay's own model as the base of every
// unit. An audit that was interrupted, in whatever way, goes on where it was
// when it is asked for again: DIR/audit/ holds what that takes.
//
// The room server/cli/auditing is a command's: it asks the project through
// AdminClient and computes in a worker process of its own, so it disturbs no
// server. It may include all that server/cli/support may, and rechecking.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/crypto.h"
#include "server/cli/auditing/audit_state.h"
#include "server/cli/support/client.h"
#include "validator/replay.h"

namespace quorate {

struct AuditOptions {
  std::string run;
  std::string command = "audit";           // that messages name
  double share = 1;                        // of the results, drawn at random
  std::optional<PublicKey> host = {};      // only its results
  std::optional<std::uint64_t> seed = {};  // of the draw; none: a secret one
  std::string device = "cpu";
  std::uint32_t threads = 1;
};

struct AuditReport {
  ReplayReport replay;
  AuditState state;
  std::string device;  // that computed; empty if nothing was to be computed
  double computing_seconds = 0;  // since the last interruption
};

// Results that were revoked are known to be false: they are taken as recorded.
// An update whose object is gone is computed anew, whether it was drawn or not,
// and so is one that the operator accepted without recomputation.
// Throws unavailable when it is interrupted (SIGINT, SIGTERM), when another
// audit with these options goes on, or when the worker fails; usage, corrupt if
// what it kept of itself does not fit the ledger.
AuditReport audit(AdminClient& client, const AuditOptions& options);

}  // namespace quorate

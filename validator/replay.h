// Is a run's model what its ledger says? Two answers: verify_ledger() checks
// the record itself and that the objects it names are there; replay() repeats
// every step of the update rules and compares the model bit for bit. Neither
// computes units: what a host claimed is taken as recorded, unless `see` looks
// closer (server/cli/audit). Objects and records come through callbacks;
// nothing else is touched.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <set>

#include "base/crypto.h"
#include "validator/ledger_walk.h"
#include "validator/model_state.h"
#include "validator/timeline.h"

namespace quorate {

// Checks chain, seals, versions, and that every object named is there and has
// its hash; of workunits also the seal. Updates that were removed on purpose
// are counted. An Error other than corrupt passes.
LedgerReport verify_ledger(const LedgerSources& sources);

struct ReplayOptions {
  // Leaves the updates of these hosts and these results out, and those that
  // were revoked. From the first one on the model is another than the run's,
  // and hashes are no longer compared. A result that is not in the model is
  // usage.
  std::set<PublicKey> without_hosts = {};
  std::set<ResultId> without_results = {};
  // Shown every result that is part of the model or was, in order, each once;
  // not of a replay without some. is_revoked: by any entry of the ledger.
  // Throws corrupt for what does not fit.
  std::function<void(const ResultAtHand& result, bool is_revoked)> see = {};
  // For the model, its average and the past versions that entries to come use
  // as base. With a past_folder only for the last: those that do not fit go to
  // unnamed files there. Without one it throws denied.
  std::uint64_t max_memory_bytes = std::uint64_t{8} << 30;
  fs::path past_folder = {};
};

struct ReplayReport {
  LedgerReport ledger;
  std::uint64_t left_out = 0;  // revoked results and those without which it was
  // The model after the last entry that fits; empty if none did.
  std::optional<ModelState> model;
  // SHA-256 of write_parameters() of the model and of its average.
  Hash parameters;
  Hash published;
};

// First verifies the chain, then rebuilds the model from the initial
// parameters (which the model and the seed determine) and the recorded updates,
// comparing on the way the hash of every published snapshot, of the end, and of
// the snapshot that each unit's sealed task names as its base. Past versions
// are kept only while an entry to come uses them as base; no snapshot is read.
//
// Throws unsupported, naming the entry, for an update that was removed on
// purpose, unless `see` brings it back.
//
// The run is followed as it went, false updates included, up to each
// revocation; from there with the model that is rebuilt from the beginning
// without what has been revoked so far. So a ledger with n revocations is
// replayed n + 1 times.
ReplayReport replay(const LedgerSources& sources,
                    const ReplayOptions& options = {});

}  // namespace quorate

// Is a run's model what its ledger says? Two answers: verify_ledger() checks
// the record itself and that the objects it names are there; replay() repeats
// every step of the update rules and compares the model bit for bit. Neither
// computes units: what a host claimed is taken as recorded (see audit).
// Objects and records come through callbacks; nothing else is touched.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <string>

#include "base/bytes.h"
#include "base/crypto.h"
#include "validator/model_state.h"
#include "workunits/ledger.h"
#include "workunits/sealed.h"

namespace quorate {

struct LedgerSources {
  // Record `seq` of the ledger, or nothing after the last. Asked in ascending
  // order from 0; by replay() twice.
  std::function<std::optional<LedgerRecord>(std::uint64_t seq)> records;
  // The bytes of an object; throws corrupt if it is missing. They are hashed
  // here.
  std::function<Bytes(const Hash& hash)> objects;
  // The same of the sealed tasks of workunits.
  std::function<Bytes(const Hash& hash)> tasks;
  ProjectId project;
  PublicKey key;
  // Called after every entry with how many are done; may be empty.
  std::function<void(std::uint64_t entries)> progress;
};

struct LedgerReport {
  // In words, naming the entry; empty if everything fits.
  std::string first_difference;
  std::uint64_t entries = 0;  // that fit
  std::uint64_t results = 0;  // assimilated by them

  bool ok() const { return first_difference.empty(); }
};

// Checks chain, seals, versions, and that every object named is there and has
// its hash; of workunits also the seal. An Error other than corrupt passes.
LedgerReport verify_ledger(const LedgerSources& sources);

struct ReplayOptions {
  // Leaves the updates of these hosts out. From the first one on the model is
  // another than the recorded one, and its hashes are no longer compared.
  std::set<PublicKey> without_hosts;
  // For the model, its average and the past versions that entries to come use
  // as base; throws denied if they need more.
  std::uint64_t max_memory_bytes = std::uint64_t{8} << 30;
};

struct ReplayReport {
  LedgerReport ledger;
  std::uint64_t left_out = 0;  // results of without_hosts
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
ReplayReport replay(const LedgerSources& sources,
                    const ReplayOptions& options = {});

}  // namespace quorate

// The hash-chained record of what became of a run: one entry for its creation,
// one per assimilated result, one per published snapshot, one per revocation of
// results that proved false, one per model of a peer that was mixed in, one for
// its end.
// An entry is one line of JSON; its hash covers the line, and the line names
// the hash before it. Each hash is signed by the project. The row in the store
// is the commit point; a ledger file is an export of the rows.
// Grammar: docs/formats.md, "Ledger".
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/crypto.h"
#include "workunits/task.h"
#include "workunits/workunit.h"

namespace quorate {

// Coefficients of a rule by name, as binary32 values; recorded as bits.
using Coefficients = std::map<std::string, float>;

struct RunCreated {
  RunId run;
  std::string name;
  ModelSpec model;
  std::string dataset;
  std::vector<Hash> shards;
  std::uint64_t seed = 0;
  std::string rule;
  std::string settings;  // JSON of the run's other settings
  Hash initial;          // snapshot of version 0
};

// The basis of a result that the operator accepted without recomputation: the
// update is in the model, and nobody has shown that it is true.
inline constexpr std::string_view kUnverified = "unverified";

struct ResultAssimilated {
  std::uint64_t version_before = 0;
  std::uint64_t version_after = 0;  // equal while a round is incomplete
  std::uint64_t unit_index = 0;
  Hash workunit;  // sealed task
  std::uint64_t base_version = 0;
  std::uint64_t staleness = 0;  // version_before - base_version
  ResultId result = 0;
  PublicKey host;
  Hash update;
  Hash claim;
  std::uint64_t samples = 0;
  std::string rule;
  Coefficients coefficients;
  // What it rests on: basis_of() in validator/quorum; empty in ledgers that did
  // not record it.
  std::string basis = {};
  // The version whose parameters the rule's step began from, if that is one
  // before version_before: several assimilators shared the model without a
  // transaction, and the versions in between are overwritten
  // (Run::consistency). Those are all of results, at most kMaxAssimilators - 1,
  // and it is neither before base_version nor before the last entry of another
  // kind, so that a published version is never overwritten.
  std::optional<std::uint64_t> read_version = {};

  bool is_unverified() const { return basis == kUnverified; }
  std::uint64_t version_read() const {
    return read_version.value_or(version_before);
  }
  // How many versions it overwrites; each has one result.
  std::uint64_t overwrites() const { return version_before - version_read(); }
};

// State of the run at a version: enough to go on from without older entries.
struct SnapshotPublished {
  std::uint64_t version = 0;
  Hash parameters;
  Hash published;   // moving average of the versions
  Hash rule_state;  // zero if the rule keeps none
};

// Results that proved false are taken out of the model: it becomes the one that
// all other results make of the initial parameters (validator/replay), under
// the next version's number.
struct Revoked {
  std::uint64_t version_before = 0;
  std::uint64_t version_after = 0;  // version_before + 1
  std::vector<ResultId> results;    // ascending
  std::optional<PublicKey> host;    // that computed all of them, if one did
  std::string reason;
  Hash parameters;  // of version_after
};
// What one entry may list.
inline constexpr std::size_t kMaxRevoked = 100'000;
inline constexpr std::size_t kMaxRevokedReason = 1024;  // bytes

// Another project's run of the same network was mixed into the model: with
// weight w each parameter goes that part of the way to the peer's. The peer has
// said in a sealed offer that this is what its model was.
struct PeerMixed {
  std::uint64_t version_before = 0;
  std::uint64_t version_after = 0;  // version_before + 1
  PublicKey peer;                   // project key; its id follows from it
  RunId peer_run;
  std::uint64_t peer_version = 0;
  Hash parameters;           // the peer's, at that version
  Hash offer;                // sealed: workunits/model_offer
  float weight = 0.0F;       // of the peer's model, over 0 and below 1
  float one_minus_c = 0.0F;  // of the new version in the published average
};
// At 0 nothing would be mixed in, at 1 nothing of one's own would be left.
bool is_mixing_weight(float weight);

struct RunEnded {
  std::string state;  // "finished", "stopped"
  std::uint64_t version = 0;
  Hash parameters;
  Hash published;
};

using LedgerBody =
    std::variant<RunCreated, ResultAssimilated, SnapshotPublished, Revoked,
                 RunEnded, PeerMixed>;

struct LedgerEntry {
  std::uint64_t seq = 0;  // from 0
  Hash previous;          // zero for the first
  LedgerBody body;
};

// What an entry is about: "run", "result", "snapshot",
// "revocation", "end", "peer".
std::string_view kind_of(const LedgerBody& body);

// An entry as stored: its line (without newline), hash and signature.
struct LedgerRecord {
  std::uint64_t seq = 0;
  std::string kind;
  std::string line;
  Hash hash;
  Signature signature;
};

LedgerRecord make_record(const LedgerEntry& entry, const ProjectId& project,
                         const PrivateKey& key);
// Throws corrupt, naming the entry, if the line is not one that make_record
// writes.
LedgerEntry parse_entry(std::string_view line);

}  // namespace quorate

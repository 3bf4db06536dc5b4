// What a published model was made of, by the ledger of its run.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/crypto.h"
#include "workunits/keyring.h"
#include "workunits/ledger/ledger.h"

namespace quorate {

struct Provenance {
  RunCreated run;
  std::uint64_t entries = 0;  // of the ledger
  Hash head;                  // hash of the last
  // Of the version that was asked for; zero if it is not published.
  Hash published;
  // In the model of that version:
  std::uint64_t results = 0;
  std::uint64_t hosts = 0;  // that these are of
  std::uint64_t samples = 0;
  std::uint64_t mixed = 0;  // models of peers that were mixed in
  std::uint64_t peers = 0;  // projects that these are of
  // Not in it: other assimilators overwrote them.
  std::uint64_t overwritten = 0;
  std::uint64_t revoked_before = 0;  // results taken out up to then
  std::uint64_t revoked_later = 0;   // results in it that proved false since
  // In it, though nobody recomputed them, in order of the ledger.
  struct Unverified {
    std::uint64_t entry = 0;
    ResultId result = 0;
  };
  std::vector<Unverified> unverified;
};

// records: from the first to the last, then nullopt. seen: called with every
// verified record; may be empty. Throws corrupt, naming the entry, for a ledger
// that does not verify.
Provenance provenance_of(
    const std::function<std::optional<LedgerRecord>()>& records,
    const Keyring& keys, std::uint64_t version,
    const std::function<void(const LedgerRecord&)>& seen = {});

// What `quorate export` writes of it beside the model, as text by name: the run
// as its first entry describes it, and what is in this version.
std::map<std::string, std::string> description_of(const Provenance& found);

// What is wrong with a model file that says of itself what `claims` has; empty
// if nothing is.
struct ModelClaims {
  std::string run_id;
  std::uint64_t version = 0;
  ModelSpec model;
  Hash published;                    // of the parameters that the file has
  std::uint64_t ledger_entries = 0;  // of the ledger when it was exported
  Hash ledger_head;
  // What else it says of itself, by name; compared where description_of() has
  // the name.
  std::map<std::string, std::string> said;
};
// Why it is not verified although nothing is wrong, and what to do; empty: all
// of its results were recomputed or vouched for.
std::string unverified_text(const Provenance& found);
std::string difference(const ModelClaims& claims, const Provenance& found,
                       const Hash& entry_at_head);

}  // namespace quorate

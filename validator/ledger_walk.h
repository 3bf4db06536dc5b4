// How a run's ledger is read by whoever checks it: record by record, verified,
// with the objects that the entries name.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "base/bytes.h"
#include "base/crypto.h"
#include "workunits/ledger/ledger.h"
#include "workunits/ledger/ledger_verifier.h"
#include "workunits/ledger/overwrites.h"
#include "workunits/objects/parameter_values.h"
#include "workunits/task.h"

namespace quorate {

struct LedgerSources {
  // Record `seq` of the ledger, or nothing after the last. Asked in ascending
  // order from 0, more than once.
  std::function<std::optional<LedgerRecord>(std::uint64_t seq)> records;
  // The bytes of an object; throws corrupt if it is missing. They are hashed
  // here.
  std::function<Bytes(const Hash& hash)> objects;
  // The same of the sealed tasks of workunits.
  std::function<Bytes(const Hash& hash)> tasks;
  // Whether an update is missing because it was removed on purpose, some time
  // after the end of its run; may be empty: none was.
  std::function<bool(const Hash& update)> is_removed = {};
  Keyring keys;  // the project's
  // Called after every entry that was looked at with how many of this walk are
  // done; may be empty. What it throws ends the walk and passes, unless it is
  // corrupt.
  std::function<void(std::uint64_t entries)> progress;
};

struct LedgerReport {
  // In words, naming the entry; empty if everything fits.
  std::string first_difference;
  std::uint64_t entries = 0;  // that fit
  std::uint64_t results = 0;  // assimilated by them
  // Of these, whose update was removed on purpose, and was not looked at.
  std::uint64_t updates_removed = 0;
  // Of these, which assimilators that share the model overwrote, so that it
  // does not contain them now; what was revoked does not change this.
  std::uint64_t overwritten = 0;
  // Entries that a key signed which was revoked since: LedgerVerifier.
  std::uint64_t by_revoked = 0;

  bool ok() const { return first_difference.empty(); }
};

using VisitEntry = std::function<void(const LedgerEntry&)>;

// A walk through a ledger that may go on later, when there are more records.
class LedgerWalk {
 public:
  // sources: must outlive this.
  explicit LedgerWalk(const LedgerSources& sources)
      : sources_(sources), verifier_(sources.keys) {}

  // Verifies records one by one, until `limit` of them are done or the ledger
  // ends, and shows each entry to `visit`, which throws corrupt for what does
  // not fit. An Error of another kind passes. The report is of all that was
  // done so far; after a difference this goes no further.
  const LedgerReport& go_on(std::uint64_t limit, const VisitEntry& visit);

 private:
  void take(const LedgerRecord& record, const VisitEntry& visit);

  const LedgerSources& sources_;
  LedgerVerifier verifier_;
  Overwrites overwrites_;
  std::uint64_t version_ = 0;  // that the last result made
  LedgerReport report_;
};

// A whole one, of at most `limit` records.
LedgerReport walk(const LedgerSources& sources, std::uint64_t limit,
                  const VisitEntry& visit);

// What `read` has for the hash. Throws corrupt, naming `what` and the hash, if
// it is missing or its bytes have another hash.
Bytes read_checked(const std::function<Bytes(const Hash&)>& read,
                   const Hash& hash, const std::string& what);

// The update of an assimilated result; nullopt if it was removed on purpose.
// Throws corrupt as read_checked() does.
std::optional<Bytes> read_update(const LedgerSources& sources,
                                 const ResultAssimilated& entry);

// The sealed task of an assimilated result. Throws corrupt unless it is what
// the entry says.
TrainingTask open_task(const LedgerSources& sources, const RunCreated& run,
                       const ResultAssimilated& entry);

// The peer's model that an entry names, of a run of `model`. Throws corrupt
// unless model and offer are there, and the offer is the peer's and says what
// the entry says.
ParameterValues open_peer_model(const LedgerSources& sources,
                                const ModelSpec& model, const PeerMixed& entry);

// Throw corrupt, naming `what`, if the ledger has something else than was
// found.
void expect_same(const std::string& what, std::uint64_t ledger,
                 std::uint64_t found);
void expect_same(const std::string& what, const Hash& ledger,
                 const Hash& found);

}  // namespace quorate

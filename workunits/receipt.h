// A receipt: what a project says, under its seal, that one host did for its
// models. The volunteer keeps it; anybody can check it without the project.
// Grammar: docs/formats.md, "Receipt".
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/crypto.h"
#include "workunits/host.h"
#include "workunits/keyring.h"
#include "workunits/workunit.h"

namespace quorate {

// The host's part in one run, and where the run's ledger stood: that it says
// so, too, can be looked up there.
struct ReceiptRun {
  RunId run;
  std::string name;
  std::string state;          // name_of(RunState)
  std::uint64_t results = 0;  // valid ones that are part of the model
  std::uint64_t first_version = 0;
  std::uint64_t last_version = 0;
  std::uint64_t ledger_entries = 0;  // from 1
  Hash ledger_head;                  // of the last of them
};
inline constexpr std::size_t kMaxReceiptRuns = 1000;

struct Receipt {
  std::string project;  // its name
  Keyring keys;         // the project's; the last made the seal
  PublicKey host;
  PublicKey user;
  Millis when = 0;
  std::uint64_t credit_thousandths = 0;  // of the host, in all runs
  std::vector<ReceiptRun> runs;
};

// The payload followed by its seal; key: the last of receipt.keys. Of more runs
// than a receipt can hold, the last ones given.
Bytes seal_receipt(Receipt receipt, const PrivateKey& key);

// Throws corrupt, naming `what`, unless it is a receipt that seal_receipt
// writes, sealed by the key that it names, which is that of the project that it
// names. Whoever wrote it may have made that key: compare `keys.project` with
// one that is known from elsewhere. That a key was revoked since, a receipt
// cannot say.
Receipt open_receipt(ByteView sealed, std::string_view what);

// More is no receipt: names as long as they may be, a thousand times.
inline constexpr std::size_t kMaxReceiptBytes = 1 << 20;

}  // namespace quorate

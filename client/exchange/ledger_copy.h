// A run's ledger, as a project shows it to everybody, kept in a file
// (workunits/ledger/ledger_file) and continued there: who has such a file can
// check models and receipts, and notices when the project rewrites its history.
#pragma once

#include <cstdint>
#include <functional>
#include <stop_token>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/crypto.h"
#include "base/file.h"
#include "protocol/transfer/transfer.h"
#include "workunits/keyring.h"

namespace quorate::client {

struct LedgerOrder {
  std::string run;  // its name
  Keyring keys;     // the project's, as it is now
  fs::path file;    // made, or continued
  // Called with each page; entries: in the file so far.
  std::function<void(std::uint64_t entries)> progress = [](std::uint64_t) {};
  // Returns after so long: a project sends only so many pages a minute.
  std::function<void(Seconds)> pause = [](Seconds) {};
};

struct LedgerCopy {
  std::uint64_t entries() const { return hashes.size(); }
  const Hash& head() const { return hashes.back(); }

  std::vector<Hash> hashes;  // of all entries; at least one
  std::uint64_t known = 0;   // of them, those that were in the file before
};

// Verifies every entry, of the file and of what comes. What was verified stays
// in the file when it is cut off or fails later. Throws corrupt, leaving the
// file alone, for one of another project or run, when the project shows other
// entries than the file has, and when it shows none; usage for a run that there
// is not; io; unavailable as Transfer does, and for a project that has us pause
// too long or too often.
LedgerCopy copy_ledger(const LedgerOrder& order, Transfer& transfer,
                       const std::stop_token& stop);

}  // namespace quorate::client

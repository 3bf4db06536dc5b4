// A run's ledger as one file, to be checked elsewhere: lines of JSON, the first
// about the project, then one for each record. docs/formats.md, "Ledger file".
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "workunits/keyring.h"
#include "workunits/ledger/ledger.h"

namespace quorate {

// One line each, without its newline. The first one names the project's keys.
std::string write_ledger_head(const Keyring& keys);
std::string write_ledger_line(const LedgerRecord& record);

// Reads such a file from its bytes, which must outlive this.
class LedgerFile {
 public:
  // Throws corrupt, naming `what`, unless the first line is a head whose keys
  // are the project's.
  LedgerFile(std::string_view text, std::string what);

  const Keyring& keys() const { return keys_; }
  // The record after the one that was read before; nullopt at the end. Throws
  // corrupt, naming the line. What it says is not verified: LedgerVerifier.
  std::optional<LedgerRecord> next();

 private:
  std::string_view take_line();

  std::string what_;
  Keyring keys_;
  std::string_view rest_;
  std::uint64_t line_ = 0;
};

}  // namespace quorate

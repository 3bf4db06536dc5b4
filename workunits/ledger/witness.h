// What somebody outside of the project kept of a ledger: some of its records,
// in a ledger file (the newest one now and then, or all at some time). A
// project that rewrites its history, signs it anew and hands that out is found
// by whoever has such a file.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>

#include "workunits/ledger/ledger_file.h"

namespace quorate {

// Compares each record in `witness` with the ledger's: record(seq) gives that
// as it is now, nullopt beyond the end. Returns how many there were. Throws
// corrupt, naming `what` and the entry, for another project's file, for a
// record that the project did not sign, and if the ledger is another one now.
std::uint64_t expect_witnessed(
    LedgerFile& witness, const std::string& what, const Keyring& keys,
    const std::function<std::optional<LedgerRecord>(std::uint64_t seq)>&
        record);

}  // namespace quorate

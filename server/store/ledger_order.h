// What both stores ask of a record before it joins a ledger.
//
// Shared, so that the stores refuse the same things. It looks at numbers and
// kinds only: hashes and signatures are the ledger's affair (workunits/ledger),
// and the notary's, who made them.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "workunits/ledger/ledger.h"

namespace quorate {

// Throws corrupt unless record and entry both have the number `next` (0 for an
// empty ledger) and are of one kind. ledger: names it for the message; called
// only when there is something wrong.
void expect_next(const LedgerEntry& entry, const LedgerRecord& record,
                 std::uint64_t next,
                 const std::function<std::string()>& ledger);

}  // namespace quorate

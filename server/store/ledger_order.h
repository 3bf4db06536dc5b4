// What both stores ask of a record before it joins a ledger.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "workunits/ledger/ledger.h"

namespace quorate {

// Throws corrupt unless record and entry both have the number `next` and are of
// one kind. ledger: names it for the message.
void expect_next(const LedgerEntry& entry, const LedgerRecord& record,
                 std::uint64_t next,
                 const std::function<std::string()>& ledger);

}  // namespace quorate

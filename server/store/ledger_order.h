// What both stores ask of a record before it joins a ledger.
#pragma once

#include <cstdint>
#include <string_view>

#include "workunits/ledger.h"

namespace quorate {

// The record's entry. Throws corrupt unless the record, by its own words and by
// its line, has the number `next`, and its kind is that of its line. ledger:
// named in the message.
LedgerEntry next_entry(const LedgerRecord& record, std::uint64_t next,
                       std::string_view ledger);

}  // namespace quorate

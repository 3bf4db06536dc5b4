#include "server/store/ledger_order.h"

#include <fmt/format.h>

#include "base/error.h"

namespace quorate {

LedgerEntry next_entry(const LedgerRecord& record, std::uint64_t next,
                       std::string_view ledger) {
  LedgerEntry entry = parse_entry(record.line);
  if (record.seq != next || entry.seq != next ||
      record.kind != kind_of(entry.body)) {
    throw Error(ErrorKind::corrupt,
                fmt::format("{}: expected ledger record {}, found {} \"{}\" "
                            "with the line of {} \"{}\"",
                            ledger, next, record.seq, record.kind, entry.seq,
                            kind_of(entry.body)));
  }
  return entry;
}

}  // namespace quorate

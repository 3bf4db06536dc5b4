#include "server/store/ledger_order.h"

#include <fmt/format.h>

#include "base/error.h"

namespace quorate {

void expect_next(const LedgerEntry& entry, const LedgerRecord& record,
                 std::uint64_t next,
                 const std::function<std::string()>& ledger) {
  const std::string_view kind = kind_of(entry.body);
  if (record.seq == next && entry.seq == next && record.kind == kind) return;
  throw Error(
      ErrorKind::corrupt,
      fmt::format("{}: expected ledger record {}, found {} \"{}\" of "
                  "entry {} \"{}\"",
                  ledger(), next, record.seq, record.kind, entry.seq, kind));
}

}  // namespace quorate

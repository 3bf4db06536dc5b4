#include "workunits/ledger/witness.h"

#include <fmt/format.h>

#include "base/error.h"

namespace quorate {

std::uint64_t expect_witnessed(
    LedgerFile& witness, const std::string& what, const Keyring& keys,
    const std::function<std::optional<LedgerRecord>(std::uint64_t seq)>&
        record) {
  if (witness.keys().project != keys.project) {
    throw Error(ErrorKind::corrupt,
                fmt::format("{}: it is of project {}, this one is {}", what,
                            fingerprint(witness.keys().project),
                            fingerprint(keys.project)));
  }
  std::uint64_t count = 0;
  for (; const auto seen = witness.next(); ++count) {
    const bool is_the_projects =
        seen->hash == sha256(as_bytes(seen->line)) &&
        parse_entry(seen->line).seq == seen->seq &&
        signer_of(seen->hash.view(), SealKind::ledger_entry, keys,
                  seen->signature) != nullptr;
    if (!is_the_projects) {
      throw Error(ErrorKind::corrupt,
                  fmt::format("{}: entry {}: the project did not sign this: "
                              "the file is damaged or forged",
                              what, seen->seq));
    }
    const auto now = record(seen->seq);
    if (now && now->hash == seen->hash) continue;
    throw Error(
        ErrorKind::corrupt,
        fmt::format("{}: entry {}: the project signed {} when this was "
                    "written, and {}: the ledger was rewritten since, or the "
                    "file is of another run",
                    what, seen->seq, seen->hash.hex(),
                    now ? "now has " + now->hash.hex()
                        : std::string("now has no such entry")));
  }
  return count;
}

}  // namespace quorate

// Whether the records of a ledger are whole, in order, the project's, and
// possible: what can be told from the lines alone.
#pragma once

#include <cstdint>
#include <map>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "workunits/keyring.h"
#include "workunits/ledger/ledger.h"

namespace quorate {

// Checks records one after another, from the first.
class LedgerVerifier {
 public:
  explicit LedgerVerifier(Keyring keys) : keys_(std::move(keys)) {}
  // Returns the entry. Throws corrupt, naming the entry, for a gap, a broken
  // chain, a hash or a signature that does not fit, versions that do not follow
  // each other, a result that is assimilated twice or overwrites what it must
  // not, a revocation inside an open round or of what is not in the model, or a
  // peer's model inside an open round.
  LedgerEntry next(const LedgerRecord& record);
  // The same; errors also name where the record is from.
  LedgerEntry next(const LedgerRecord& record, std::string_view from);

  // Of the entries so far, how many a key signed that was revoked since.
  // Whoever took that key can write such entries, too: only what others kept of
  // the ledger before (workunits/ledger/witness) tells them apart.
  std::uint64_t by_revoked() const { return by_revoked_; }

 private:
  // A result in the model, by its host's place in hosts_; or what was revoked.
  using HostNumber = std::uint32_t;
  static constexpr HostNumber kWasRevoked = ~HostNumber{0};

  void follow(std::uint64_t seq, const LedgerBody& body);
  void expect_readable(std::uint64_t seq,
                       const ResultAssimilated& result) const;
  void take_in(std::uint64_t seq, const ResultAssimilated& result);
  bool is_of(HostNumber number, const PublicKey& host) const;
  void take_out(std::uint64_t seq, const Revoked& revoked);

  Keyring keys_;
  std::uint64_t next_seq_ = 0;
  std::uint64_t by_revoked_ = 0;
  std::uint64_t version_ = 0;
  std::uint64_t readable_from_ = 0;  // the version of the last other entry
  bool is_round_open_ = false;
  bool has_ended_ = false;
  Hash previous_;
  std::map<PublicKey, HostNumber> hosts_;
  std::unordered_map<ResultId, HostNumber> results_;
};

}  // namespace quorate

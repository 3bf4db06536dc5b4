#include "workunits/ledger/ledger_verifier.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/error.h"

namespace quorate {
namespace {

template <class... Ts>
struct Overloaded : Ts... {
  using Ts::operator()...;
};
template <class... Ts>
Overloaded(Ts...) -> Overloaded<Ts...>;

[[noreturn]] void reject(std::uint64_t seq, const std::string& why) {
  throw Error(ErrorKind::corrupt, fmt::format("ledger entry {}: {}", seq, why));
}

// The version after `body`, which must follow from `version`.
std::uint64_t next_version(std::uint64_t seq, std::uint64_t version,
                           const LedgerBody& body) {
  auto expect = [seq](std::uint64_t expected, std::uint64_t found) {
    if (found != expected) {
      reject(seq,
             fmt::format("expected version {}, found {}", expected, found));
    }
    return found;
  };
  return std::visit(
      Overloaded{
          [](const RunCreated&) { return std::uint64_t{0}; },
          [&](const ResultAssimilated& result) {
            expect(version, result.version_before);
            if (result.version_after != version) {
              expect(version + 1, result.version_after);
            }
            if (result.base_version > version ||
                result.staleness != version - result.base_version) {
              reject(seq, fmt::format("staleness {} of base version {} at "
                                      "version {}",
                                      result.staleness, result.base_version,
                                      version));
            }
            return result.version_after;
          },
          [&](const SnapshotPublished& snapshot) {
            return expect(version, snapshot.version);
          },
          [&](const Revoked& revoked) {
            expect(version, revoked.version_before);
            return expect(version + 1, revoked.version_after);
          },
          [&](const RunEnded& end) { return expect(version, end.version); },
          [&](const PeerMixed& mixed) {
            expect(version, mixed.version_before);
            return expect(version + 1, mixed.version_after);
          }},
      body);
}

}  // namespace

LedgerEntry LedgerVerifier::next(const LedgerRecord& record,
                                 std::string_view from) {
  try {
    return next(record);
  } catch (const Error& error) {
    throw Error(error.kind(), fmt::format("{}: {}", from, error.what()));
  }
}

LedgerEntry LedgerVerifier::next(const LedgerRecord& record) {
  std::uint64_t seq = next_seq_;
  if (record.hash != sha256(as_bytes(record.line))) {
    reject(seq, "its hash is not that of its line");
  }
  const SigningKey* signer = signer_of(
      record.hash.view(), SealKind::ledger_entry, keys_, record.signature);
  if (signer == nullptr) reject(seq, "its signature does not fit");
  if (signer->is_revoked) ++by_revoked_;
  LedgerEntry entry = parse_entry(record.line);
  if (entry.seq != seq || record.seq != seq) {
    reject(seq, fmt::format("found entry {} in its place", entry.seq));
  }
  if (entry.previous != previous_) {
    reject(seq, "does not name the hash of the entry before it");
  }
  if (record.kind != kind_of(entry.body)) {
    reject(seq, fmt::format("kind \"{}\" beside a line of kind \"{}\"",
                            record.kind, kind_of(entry.body)));
  }
  bool creates = std::holds_alternative<RunCreated>(entry.body);
  if (creates != (seq == 0) || has_ended_) {
    reject(seq, fmt::format("a ledger begins with the run's creation and "
                            "ends with its end; found kind \"{}\"",
                            record.kind));
  }
  follow(seq, entry.body);
  has_ended_ = std::holds_alternative<RunEnded>(entry.body);
  previous_ = record.hash;
  ++next_seq_;
  return entry;
}

void LedgerVerifier::follow(std::uint64_t seq, const LedgerBody& body) {
  version_ = next_version(seq, version_, body);
  if (const auto* result = std::get_if<ResultAssimilated>(&body)) {
    take_in(seq, *result);
  } else if (const auto* revoked = std::get_if<Revoked>(&body)) {
    take_out(seq, *revoked);
  } else if (std::holds_alternative<PeerMixed>(body) && is_round_open_) {
    reject(seq, "mixes a peer's model in inside an open round");
  }
  if (!std::holds_alternative<ResultAssimilated>(body))
    readable_from_ = version_;
}

void LedgerVerifier::expect_readable(std::uint64_t seq,
                                     const ResultAssimilated& result) const {
  if (!result.read_version) return;
  const std::uint64_t least = std::max(readable_from_, result.base_version);
  const bool is_alone =
      result.version_after == result.version_before + 1 && !is_round_open_;
  if (*result.read_version >= least && is_alone) return;
  reject(seq, is_alone
                  ? fmt::format("overwrites what came after version {}, but "
                                "nothing up to version {} may be overwritten",
                                *result.read_version, least)
                  : "overwrites versions, but belongs to a round");
}

void LedgerVerifier::take_in(std::uint64_t seq,
                             const ResultAssimilated& result) {
  expect_readable(seq, result);
  is_round_open_ = result.version_after == result.version_before;
  const auto number = static_cast<HostNumber>(hosts_.size());
  const HostNumber host = hosts_.emplace(result.host, number).first->second;
  if (!results_.emplace(result.result, host).second) {
    reject(seq, fmt::format("result {} was assimilated before", result.result));
  }
}

bool LedgerVerifier::is_of(HostNumber number, const PublicKey& host) const {
  const auto found = hosts_.find(host);
  return found != hosts_.end() && found->second == number;
}

void LedgerVerifier::take_out(std::uint64_t seq, const Revoked& revoked) {
  if (is_round_open_) reject(seq, "revokes results inside an open round");
  for (const ResultId id : revoked.results) {
    const auto found = results_.find(id);
    if (found == results_.end()) {
      reject(seq, fmt::format("revokes result {}, which no entry before it "
                              "assimilated",
                              id));
    }
    if (found->second == kWasRevoked) {
      reject(seq,
             fmt::format("revokes result {}, which was revoked before", id));
    }
    if (revoked.host && !is_of(found->second, *revoked.host)) {
      reject(seq, fmt::format("revokes result {}, which is not of host {}", id,
                              revoked.host->hex()));
    }
    found->second = kWasRevoked;
  }
}

}  // namespace quorate

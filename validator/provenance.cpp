#include "validator/provenance.h"

#include <algorithm>
#include <map>
#include <set>
#include <unordered_map>

#include <fmt/format.h>

#include "base/error.h"
#include "base/text.h"
#include "workunits/ledger/ledger_verifier.h"
#include "workunits/ledger/overwrites.h"

namespace quorate {
namespace {

struct Contribution {
  PublicKey host;
  std::uint64_t samples = 0;
  std::uint64_t version = 0;  // that it made
  std::uint64_t entry = 0;
  bool is_unverified = false;
};

class Reader {
 public:
  explicit Reader(std::uint64_t version) : version_(version) {}

  void read(const LedgerEntry& entry) {
    entry_ = entry.seq;
    std::visit(*this, entry.body);
  }

  void operator()(const RunCreated& run) { found_.run = run; }
  void operator()(const ResultAssimilated& result) {
    if (is_reached_) return;
    in_[result.result] = {result.host, result.samples, result.version_after,
                          entry_, result.is_unverified()};
    overwrites_.take_in(result);
  }
  void operator()(const SnapshotPublished& snapshot) {
    if (snapshot.version == version_) reach(snapshot.published);
  }
  void operator()(const Revoked& revoked) {
    for (const ResultId id : revoked.results) {
      const auto found = in_.find(id);
      if (found == in_.end()) continue;
      overwrites_.take_out(found->second.version);
      in_.erase(found);
      ++(is_reached_ ? found_.revoked_later : found_.revoked_before);
    }
  }
  void operator()(const RunEnded&) {}
  void operator()(const PeerMixed& mixed) {
    if (is_reached_) return;
    ++found_.mixed;
    peers_.insert(mixed.peer);
    found_.peers = peers_.size();
  }

  Provenance take() { return std::move(found_); }

 private:
  // Snapshots of one version are equal: the first counts.
  void reach(const Hash& published) {
    if (is_reached_) return;
    is_reached_ = true;
    found_.published = published;
    leave_out_overwritten();
    std::map<PublicKey, std::uint64_t> hosts;
    for (const auto& [id, one] : in_) {
      found_.samples += one.samples;
      ++hosts[one.host];
      if (one.is_unverified) found_.unverified.push_back({one.entry, id});
    }
    std::sort(found_.unverified.begin(), found_.unverified.end(),
              [](const auto& a, const auto& b) { return a.entry < b.entry; });
    found_.results = in_.size();
    found_.hosts = hosts.size();
  }

  void leave_out_overwritten() {
    for (const Overwrites::Range& range : overwrites_.in(version_)) {
      found_.overwritten += std::erase_if(in_, [&](const auto& one) {
        const std::uint64_t version = one.second.version;
        return version >= range.first && version <= range.last;
      });
    }
  }

  std::uint64_t version_;
  std::uint64_t entry_ = 0;  // at hand
  Overwrites overwrites_;
  bool is_reached_ = false;
  std::set<PublicKey> peers_;
  std::unordered_map<ResultId, Contribution> in_;
  Provenance found_;
};

}  // namespace

Provenance provenance_of(
    const std::function<std::optional<LedgerRecord>()>& records,
    const Keyring& keys, std::uint64_t version,
    const std::function<void(const LedgerRecord&)>& seen) {
  LedgerVerifier verifier(keys);
  Reader reader(version);
  std::uint64_t entries = 0;
  Hash head;
  while (const std::optional<LedgerRecord> record = records()) {
    reader.read(verifier.next(*record));
    if (seen) seen(*record);
    head = record->hash;
    ++entries;
  }
  if (entries == 0) {
    throw Error(ErrorKind::corrupt, "the ledger has no entries");
  }
  Provenance found = reader.take();
  found.entries = entries;
  found.head = head;
  return found;
}

std::string unverified_text(const Provenance& found) {
  if (found.unverified.empty()) return "";
  constexpr std::size_t kMostNamed = 20;
  std::string names;
  const std::size_t count = found.unverified.size();
  for (std::size_t i = 0; i < std::min(count, kMostNamed); ++i) {
    const Provenance::Unverified& one = found.unverified[i];
    names += fmt::format("{}result {} (ledger entry {})", i == 0 ? "" : ", ",
                         one.result, one.entry);
  }
  if (count > kMostNamed) names += ", ...";
  return fmt::format(
      "not verified: {} of its {} results {} accepted without recomputation: "
      "{}: recompute them with `quorate audit {}`, or have the project take "
      "them out with `quorate result revoke ID`, then export a later version",
      count, found.results, count == 1 ? "was" : "were", names, found.run.name);
}

std::map<std::string, std::string> description_of(const Provenance& found) {
  return {{"quorate.run", found.run.name},
          {"quorate.run_id", found.run.run.hex()},
          {"quorate.dataset", found.run.dataset},
          {"quorate.seed", fmt::format("{:016x}", found.run.seed)},
          {"quorate.rule", found.run.rule},
          {"quorate.settings", found.run.settings},
          {"quorate.results", std::to_string(found.results)},
          {"quorate.hosts", std::to_string(found.hosts)},
          {"quorate.samples", std::to_string(found.samples)},
          {"quorate.revoked", std::to_string(found.revoked_before)}};
}

std::string difference(const ModelClaims& claims, const Provenance& found,
                       const Hash& entry_at_head) {
  if (claims.run_id != found.run.run.hex()) {
    return fmt::format("it is of run {}, the ledger of run {}", claims.run_id,
                       found.run.run.hex());
  }
  if (claims.model != found.run.model) return "it is of another network";
  if (found.published.is_zero()) {
    return fmt::format("the ledger has no published version {}",
                       claims.version);
  }
  if (claims.published != found.published) {
    return fmt::format("its parameters are {}, version {} was published as {}",
                       claims.published.hex(), claims.version,
                       found.published.hex());
  }
  if (claims.ledger_entries == 0 || claims.ledger_entries > found.entries) {
    return fmt::format(
        "it was exported when the ledger had {} entries, which has {}",
        claims.ledger_entries, found.entries);
  }
  if (claims.ledger_head != entry_at_head) {
    return fmt::format(
        "it was exported when entry {} of the ledger was {}, "
        "which is now {}: another history",
        claims.ledger_entries - 1, claims.ledger_head.hex(),
        entry_at_head.hex());
  }
  for (const auto& [name, text] : description_of(found)) {
    const auto said = claims.said.find(name);
    if (said != claims.said.end() && said->second != text) {
      return fmt::format("its {} is \"{}\", the ledger says \"{}\"", name,
                         shown_text(said->second), shown_text(text));
    }
  }
  return "";
}

}  // namespace quorate

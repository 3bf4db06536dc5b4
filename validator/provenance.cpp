#include "validator/provenance.h"

#include <map>
#include <set>
#include <unordered_map>

#include <fmt/format.h>

#include "base/error.h"
#include "workunits/ledger/ledger_verifier.h"
#include "workunits/ledger/overwrites.h"

namespace quorate {
namespace {

struct Contribution {
  PublicKey host;
  std::uint64_t samples = 0;
  std::uint64_t version = 0;  // that it made
};

class Reader {
 public:
  explicit Reader(std::uint64_t version) : version_(version) {}

  void operator()(const RunCreated& run) { found_.run = run; }
  void operator()(const ResultAssimilated& result) {
    if (is_reached_) return;
    in_[result.result] = {result.host, result.samples, result.version_after};
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
    }
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
  Overwrites overwrites_;
  bool is_reached_ = false;
  std::set<PublicKey> peers_;
  std::unordered_map<ResultId, Contribution> in_;
  Provenance found_;
};

}  // namespace

Provenance provenance_of(
    const std::function<std::optional<LedgerRecord>()>& records,
    const ProjectId& project, const PublicKey& key, std::uint64_t version,
    const std::function<void(const LedgerRecord&)>& seen) {
  LedgerVerifier verifier(project, key);
  Reader reader(version);
  std::uint64_t entries = 0;
  Hash head;
  while (const std::optional<LedgerRecord> record = records()) {
    std::visit(reader, verifier.next(*record).body);
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
  if (claims.ledger_head != entry_at_head) {
    return fmt::format(
        "it was exported when entry {} of the ledger was {}, "
        "which is now {}: another history",
        claims.ledger_entries - 1, claims.ledger_head.hex(),
        entry_at_head.hex());
  }
  return "";
}

}  // namespace quorate

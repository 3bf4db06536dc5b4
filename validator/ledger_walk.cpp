#include "validator/ledger_walk.h"

#include <fmt/format.h>

#include "base/error.h"
#include "validator/update_rules/update_rule.h"
#include "workunits/model_offer.h"
#include "workunits/objects/safetensors.h"

namespace quorate {
namespace {

[[noreturn]] void refuse(const std::string& found) {
  throw Error(ErrorKind::corrupt, found);
}

}  // namespace

Bytes read_checked(const std::function<Bytes(const Hash&)>& read,
                   const Hash& hash, const std::string& what) {
  Bytes bytes;
  try {
    bytes = read(hash);
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::corrupt) throw;
    refuse(fmt::format("{} {}: {}", what, hash.hex(), error.what()));
  }
  if (sha256(bytes) != hash) {
    refuse(fmt::format("{} {}: its bytes have another hash, {}", what,
                       hash.hex(), sha256(bytes).hex()));
  }
  return bytes;
}

std::optional<Bytes> read_update(const LedgerSources& sources,
                                 const ResultAssimilated& entry) {
  try {
    return read_checked(sources.objects, entry.update,
                        fmt::format("update of result {}", entry.result));
  } catch (const Error& error) {
    // Asked afterwards: it may go at any moment.
    const bool is_removed = error.kind() == ErrorKind::corrupt &&
                            sources.is_removed &&
                            sources.is_removed(entry.update);
    if (!is_removed) throw;
    return std::nullopt;
  }
}

void expect_same(const std::string& what, std::uint64_t ledger,
                 std::uint64_t found) {
  if (ledger == found) return;
  refuse(fmt::format("{}: recorded is {}, found {}", what, ledger, found));
}

void expect_same(const std::string& what, const Hash& ledger,
                 const Hash& found) {
  if (ledger == found) return;
  refuse(fmt::format("{}: recorded is {}, found {}", what, ledger.hex(),
                     found.hex()));
}

TrainingTask open_task(const LedgerSources& sources, const RunCreated& run,
                       const ResultAssimilated& entry) {
  const std::string what = fmt::format("workunit of unit {}", entry.unit_index);
  const Bytes sealed = read_checked(sources.tasks, entry.workunit, what);
  TrainingTask task =
      decode_task(open_sealed(sealed, SealKind::workunit, sources.keys, what));
  if (task.run != run.run || task.model != run.model) {
    refuse(fmt::format("{}: it belongs to another run", what));
  }
  expect_same(what + ": index", entry.unit_index, task.unit_index);
  expect_same(what + ": base version", entry.base_version, task.base_version);
  if (task.replica != replica_of(entry.coefficients)) {
    refuse(what + ": it trained another replica than the rule says");
  }
  expect_same(what + ": samples", entry.samples, task.range.samples());
  return task;
}

ParameterValues open_peer_model(const LedgerSources& sources,
                                const ModelSpec& model,
                                const PeerMixed& entry) {
  const std::string what =
      fmt::format("model of peer {}", fingerprint(project_id_of(entry.peer)));
  const std::string said = "offer of the " + what;
  const ModelOffer offer =
      open_offer(read_checked(sources.objects, entry.offer, said), said);
  if (offer.keys.root != entry.peer)
    refuse(said + ": another project sealed it");
  if (offer.run != entry.peer_run) refuse(said + ": it is of another run");
  if (offer.model != model) refuse(said + ": it is of another network");
  expect_same(said + ": version", entry.peer_version, offer.version);
  expect_same(said + ": parameters", entry.parameters, offer.parameters);
  return read_parameters(
      model, read_checked(sources.objects, entry.parameters, what), what);
}

const LedgerReport& LedgerWalk::go_on(std::uint64_t limit,
                                      const VisitEntry& visit) {
  while (report_.ok() && report_.entries < limit) {
    try {
      const auto record = sources_.records(report_.entries);
      if (!record) break;
      take(*record, visit);
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::corrupt) throw;
      report_.first_difference = error.what();
    }
  }
  if (report_.ok() && report_.entries == 0) {
    report_.first_difference = "the ledger has no entries";
  }
  report_.overwritten = overwrites_.count(version_);
  report_.by_revoked = verifier_.by_revoked();
  return report_;
}

void LedgerWalk::take(const LedgerRecord& record, const VisitEntry& visit) {
  const LedgerEntry entry = verifier_.next(record);  // names it in its errors
  try {
    visit(entry);
    ++report_.entries;
    if (const auto* result = std::get_if<ResultAssimilated>(&entry.body)) {
      ++report_.results;
      overwrites_.take_in(*result);
      version_ = result->version_after;
    }
    if (sources_.progress) sources_.progress(report_.entries);
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::corrupt) throw;
    refuse(fmt::format("ledger entry {}: {}", entry.seq, error.what()));
  }
}

LedgerReport walk(const LedgerSources& sources, std::uint64_t limit,
                  const VisitEntry& visit) {
  return LedgerWalk(sources).go_on(limit, visit);
}

}  // namespace quorate

#include "validator/ledger_walk.h"

#include <fmt/format.h>

#include "base/error.h"
#include "validator/update_rules/update_rule.h"
#include "workunits/ledger/ledger_verifier.h"
#include "workunits/ledger/overwrites.h"
#include "workunits/model_offer.h"
#include "workunits/objects/safetensors.h"
#include "workunits/sealed.h"

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
  TrainingTask task = decode_task(open_sealed(
      sealed, SealKind::workunit, sources.project, sources.key, what));
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
  if (offer.key != entry.peer) refuse(said + ": another project sealed it");
  if (offer.run != entry.peer_run) refuse(said + ": it is of another run");
  if (offer.model != model) refuse(said + ": it is of another network");
  expect_same(said + ": version", entry.peer_version, offer.version);
  expect_same(said + ": parameters", entry.parameters, offer.parameters);
  return read_parameters(
      model, read_checked(sources.objects, entry.parameters, what), what);
}

LedgerReport walk(const LedgerSources& sources, std::uint64_t limit,
                  const std::function<void(const LedgerEntry&)>& visit) {
  LedgerVerifier verifier(sources.project, sources.key);
  LedgerReport report;
  Overwrites overwrites;
  std::uint64_t version = 0;  // that the last result made
  bool verified = false;
  try {
    while (report.entries < limit) {
      verified = false;
      const auto record = sources.records(report.entries);
      if (!record) break;
      const LedgerEntry entry = verifier.next(*record);
      verified = true;
      visit(entry);
      ++report.entries;
      if (const auto* result = std::get_if<ResultAssimilated>(&entry.body)) {
        ++report.results;
        overwrites.take_in(*result);
        version = result->version_after;
      }
      if (sources.progress) sources.progress(report.entries);
    }
    if (report.entries == 0) refuse("the ledger has no entries");
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::corrupt) throw;
    report.first_difference =
        verified
            ? fmt::format("ledger entry {}: {}", report.entries, error.what())
            : error.what();
  }
  report.overwritten = overwrites.count(version);
  return report;
}

}  // namespace quorate

#include "client/commands/receipt.h"

#include <algorithm>

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "client/status/contact.h"
#include "protocol/text.h"
#include "workunits/ledger/ledger_verifier.h"

namespace quorate::client {
namespace {

constexpr std::size_t kMostShown = 256;  // bytes of a name
constexpr std::size_t kFingerprintDigits = 32;

std::tm universal_time(Millis unix_ms) {
  return fmt::gmtime(static_cast<std::time_t>(unix_ms / 1000));
}

// Sealed bytes end up in a terminal.
std::string shown(const std::string& name) {
  return protocol::plain_text(name, kMostShown);
}

double credit_of(const Receipt& receipt) {
  return static_cast<double>(receipt.credit_thousandths) / 1000;
}

std::string run_text(const ReceiptRun& run) {
  return fmt::format(
      "  run {} ({}): {} in versions {} to {} of its model\n"
      "    its ledger had {} at that time; the last one has the hash {}\n",
      shown(run.name), shown(run.state), count_text(run.results, "result"),
      run.first_version, run.last_version,
      run.ledger_entries == 1 ? "1 entry"
                              : fmt::format("{} entries", run.ledger_entries),
      run.ledger_head.hex());
}

nlohmann::ordered_json run_json(const ReceiptRun& run) {
  return {{"run", run.name},
          {"run_id", run.run.hex()},
          {"state", run.state},
          {"results", run.results},
          {"first_version", run.first_version},
          {"last_version", run.last_version},
          {"ledger_entries", run.ledger_entries},
          {"ledger_head", run.ledger_head.hex()}};
}

const ReceiptRun* run_in(const Receipt& receipt, const RunId& run) {
  const auto found =
      std::find_if(receipt.runs.begin(), receipt.runs.end(),
                   [&](const ReceiptRun& one) { return one.run == run; });
  return found == receipt.runs.end() ? nullptr : &*found;
}

}  // namespace

std::string receipt_text(const Receipt& receipt) {
  std::string text = fmt::format(
      "{}, fingerprint {}, stated under its seal at {:%Y-%m-%d %H:%M:%S} UTC:\n"
      "  host {}\n"
      "  of account {}\n"
      "  has earned {} credit in all runs\n",
      shown(receipt.project), fingerprint(receipt.keys.project),
      universal_time(receipt.when), receipt.host.hex(), receipt.user.hex(),
      credit_of(receipt));
  for (const ReceiptRun& run : receipt.runs) text += run_text(run);
  if (receipt.runs.empty()) {
    text += "  none of its results is part of a model yet\n";
  }
  return text;
}

std::string receipt_json(const Receipt& receipt, const std::string& file) {
  nlohmann::ordered_json runs = nlohmann::ordered_json::array();
  for (const ReceiptRun& run : receipt.runs) runs.push_back(run_json(run));
  return nlohmann::ordered_json{
      {"file", file},
      {"project", receipt.project},
      {"fingerprint", fingerprint(receipt.keys.project)},
      {"host", receipt.host.hex()},
      {"account", receipt.user.hex()},
      {"when", receipt.when},
      {"credit", credit_of(receipt)},
      {"runs", std::move(runs)}}
      .dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

void expect_receipt_of(const Receipt& receipt, const Project& project,
                       const PublicKey& host, const std::string& what) {
  if (receipt.keys.project != project.id) {
    throw Error(ErrorKind::corrupt,
                fmt::format("{}: expected one of project {}, found one of {}: "
                            "is another project served at this address?",
                            what, fingerprint(project.id),
                            fingerprint(receipt.keys.project)));
  }
  if (receipt.host != host) {
    throw Error(ErrorKind::corrupt,
                fmt::format("{}: expected one for this host, {}, found one "
                            "for {}: ask the project's operator",
                            what, host.hex(), receipt.host.hex()));
  }
}

// We may know of a theft that the receipt's own list does not.
void expect_unrevoked(const Receipt& receipt, const Project& project,
                      const std::string& what) {
  const SigningKey* key =
      project.statement.keys.find(receipt.keys.current().key);
  if (key == nullptr || !key->is_revoked) return;
  throw Error(ErrorKind::corrupt,
              fmt::format("{}: the project has revoked the key that sealed it, "
                          "so that others may have made it: fetch a new one",
                          what));
}

void expect_known_project(const Receipt& receipt, const std::string& key,
                          const std::vector<Project>& attached,
                          const std::string& what) {
  const std::string found = fingerprint(receipt.keys.project);
  const auto known = std::find_if(
      attached.begin(), attached.end(),
      [&](const Project& one) { return one.id == receipt.keys.project; });
  if (known != attached.end()) expect_unrevoked(receipt, *known, what);
  if (key.empty()) {
    if (known != attached.end()) return;
    throw Error(ErrorKind::usage,
                fmt::format("{}: it is of project {}, to which this computer "
                            "is not attached: say --key FINGERPRINT, with the "
                            "fingerprint that the project publishes",
                            what, found));
  }
  if (key.size() < kFingerprintDigits) {
    throw Error(ErrorKind::usage,
                fmt::format("--key {}: expected the {} digits of a "
                            "fingerprint: fewer can be forged",
                            key, kFingerprintDigits));
  }
  if (key == found || key == receipt.keys.project.hex() ||
      key == receipt.keys.root.hex()) {
    return;
  }
  throw Error(
      ErrorKind::corrupt,
      fmt::format("{}: it belongs to project {}, not to --key {}: do not "
                  "believe it, or ask the project for its fingerprint",
                  what, found, key));
}

void expect_shown_by(LedgerFile& ledger, const std::string& ledger_name,
                     const Receipt& receipt, const std::string& what) {
  if (ledger.keys().project != receipt.keys.project) {
    throw Error(ErrorKind::corrupt,
                fmt::format("{}: it is of project {}, {} of {}", ledger_name,
                            fingerprint(ledger.keys().project), what,
                            fingerprint(receipt.keys.project)));
  }
  LedgerVerifier verifier(ledger.keys());
  std::uint64_t entries = 0;
  const ReceiptRun* said = nullptr;
  while (const auto record = ledger.next()) {
    const LedgerEntry entry = verifier.next(*record, ledger_name);
    if (const auto* created = std::get_if<RunCreated>(&entry.body)) {
      said = run_in(receipt, created->run);
      if (said == nullptr) {
        throw Error(ErrorKind::usage,
                    fmt::format("{}: it is of run {}, of which {} says "
                                "nothing: take the ledger of another run",
                                ledger_name, shown(created->name), what));
      }
    }
    ++entries;
    if (said == nullptr || entries != said->ledger_entries ||
        record->hash == said->ledger_head) {
      continue;
    }
    throw Error(
        ErrorKind::corrupt,
        fmt::format("{}: entry {} has the hash {}, and {}, which the project "
                    "sealed, says {}: the project has changed the history of "
                    "run {}: keep both files, they prove it, and ask its "
                    "operator",
                    ledger_name, record->seq, record->hash.hex(), what,
                    said->ledger_head.hex(), shown(said->name)));
  }
  if (said != nullptr && entries >= said->ledger_entries) return;
  throw Error(
      ErrorKind::usage,
      fmt::format("{}: it has {}, fewer than when {} was written: "
                  "fetch the rest with quorate-client ledger",
                  ledger_name,
                  entries == 1 ? "1 entry" : fmt::format("{} entries", entries),
                  what));
}

std::string receipt_file_name(const ProjectId& project, Millis unix_ms) {
  return fmt::format("quorate-{}-{:%Y-%m-%d}.receipt",
                     fingerprint(project).substr(0, 8),
                     universal_time(unix_ms));
}

}  // namespace quorate::client

#include "workunits/receipt.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/error.h"
#include "base/json_fields.h"

namespace quorate {
namespace {

using nlohmann::json;

constexpr std::string_view kFormat = "quorate receipt v1";
constexpr JsonLimits kLimits{kMaxReceiptBytes - kSealBytes, 3};
constexpr std::size_t kMaxName = 256;
constexpr std::size_t kMaxState = 32;

json to_json(const ReceiptRun& run) {
  return {{"run", run.run.hex()},
          {"name", run.name},
          {"state", run.state},
          {"results", run.results},
          {"first_version", run.first_version},
          {"last_version", run.last_version},
          {"ledger_entries", run.ledger_entries},
          {"ledger_head", run.ledger_head.hex()}};
}

std::string write(const Receipt& receipt) {
  json runs = json::array();
  for (const ReceiptRun& run : receipt.runs) runs.push_back(to_json(run));
  json all{{"format", kFormat},
           {"project", receipt.project},
           {"project_id", receipt.keys.project.hex()},
           {"key", receipt.keys.current().key.hex()},
           {"host", receipt.host.hex()},
           {"user", receipt.user.hex()},
           {"when", receipt.when},
           {"credit_thousandths", receipt.credit_thousandths},
           {"runs", std::move(runs)}};
  if (receipt.keys.number != 0) all["keyring"] = to_hex(receipt.keys.sealed);
  return dump_json(all);
}

ReceiptRun read_run(const json& item, const std::string& what) {
  const JsonFields fields(item, what);
  ReceiptRun run;
  run.run = fields.fixed_bytes<RunId>("run");
  run.name = fields.text("name", kMaxName);
  run.state = fields.text("state", kMaxState);
  run.results = fields.integer("results", 1);
  run.first_version = fields.integer("first_version");
  run.last_version = fields.integer("last_version", run.first_version);
  run.ledger_entries = fields.integer("ledger_entries", 1);
  run.ledger_head = fields.fixed_bytes<Hash>("ledger_head");
  return run;
}

std::vector<ReceiptRun> read_runs(const JsonFields& fields) {
  const json& array = fields.array("runs");
  const std::string label = fields.label("runs");
  if (array.size() > kMaxReceiptRuns) {
    throw Error(ErrorKind::corrupt,
                fmt::format("{}: expected at most {} runs, found {}", label,
                            kMaxReceiptRuns, array.size()));
  }
  std::vector<ReceiptRun> runs;
  for (const json& item : array) {
    runs.push_back(read_run(item, fmt::format("{}[{}]", label, runs.size())));
  }
  return runs;
}

Receipt parse(std::string_view text, std::string_view what) {
  const json parsed = parse_json(text, kLimits, what);
  const JsonFields fields(parsed, what);
  if (fields.text("format", 64) != kFormat) {
    throw Error(ErrorKind::corrupt,
                fmt::format("{}: expected format \"{}\"", what, kFormat));
  }
  Receipt receipt;
  receipt.project = fields.text("project", kMaxName);
  receipt.keys = read_keys(fields, what);
  if (receipt.keys.project != fields.fixed_bytes<ProjectId>("project_id")) {
    throw Error(ErrorKind::corrupt,
                fmt::format("{}: its key is not that of its project", what));
  }
  receipt.host = fields.fixed_bytes<PublicKey>("host");
  receipt.user = fields.fixed_bytes<PublicKey>("user");
  receipt.when = static_cast<Millis>(fields.integer("when"));
  receipt.credit_thousandths = fields.integer("credit_thousandths");
  receipt.runs = read_runs(fields);
  if (write(receipt) != text) {
    throw Error(ErrorKind::corrupt,
                fmt::format("{}: is not written as we write receipts", what));
  }
  return receipt;
}

}  // namespace

Bytes seal_receipt(Receipt receipt, const PrivateKey& key) {
  std::vector<ReceiptRun>& runs = receipt.runs;
  if (runs.size() > kMaxReceiptRuns) {
    runs.erase(runs.begin(), runs.end() - kMaxReceiptRuns);
  }
  check(receipt.keys.current().key == key.public_key(),
        "the project's last key seals receipts");
  return seal(as_bytes(write(receipt)), SealKind::receipt, receipt.keys.project,
              key);
}

Receipt open_receipt(ByteView sealed, std::string_view what) {
  if (sealed.size() <= kSealBytes || sealed.size() > kMaxReceiptBytes) {
    throw Error(
        ErrorKind::corrupt,
        fmt::format("{}: its {} bytes are not a receipt, which has {} to {}",
                    what, sealed.size(), kSealBytes + 1, kMaxReceiptBytes));
  }
  Receipt receipt =
      parse(as_text(sealed.first(sealed.size() - kSealBytes)), what);
  open_sealed(sealed, SealKind::receipt, receipt.keys.project,
              receipt.keys.current().key, what);
  return receipt;
}

}  // namespace quorate

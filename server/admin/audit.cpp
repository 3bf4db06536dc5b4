// verify-ledger and replay: is the model what its ledger says?
#include <deque>
#include <map>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <unistd.h>

#include "base/error.h"
#include "server/admin/client.h"
#include "server/admin/commands.h"
#include "validator/replay.h"
#include "workunits/object_store.h"

namespace quorate {
namespace {

using nlohmann::json;

// Reads a run's ledger in pages, forward, and with each page the sealed tasks
// that it names.
class LedgerPages {
 public:
  LedgerPages(AdminClient& client, std::string run)
      : client_(client), run_(std::move(run)) {}

  std::optional<LedgerRecord> record(std::uint64_t seq) {
    if (seq < first_ || seq >= first_ + page_.size()) load(seq);
    if (page_.empty()) return std::nullopt;
    return page_.at(seq - first_);
  }

  // Of a record of the current page.
  const Bytes& task(const Hash& workunit) const {
    auto found = tasks_.find(workunit);
    if (found != tasks_.end()) return found->second;
    throw Error(ErrorKind::corrupt,
                "missing from the store, or changed there: restore a backup");
  }

 private:
  static constexpr std::uint64_t kPage = 200;  // records, each with a task

  void load(std::uint64_t seq) {
    first_ = seq;
    page_.clear();
    tasks_.clear();
    for (const json& row : client_.call("ledger", {{"run", run_},
                                                   {"from", seq},
                                                   {"limit", kPage},
                                                   {"tasks", true}})) {
      LedgerRecord record;
      record.seq = row["seq"].get<std::uint64_t>();
      record.kind = row["kind"].get<std::string>();
      record.line = row["line"].get<std::string>();
      record.hash =
          parse_hex<Hash>(row["hash"].get<std::string>(), "ledger hash");
      record.signature = parse_hex<Signature>(
          row["signature"].get<std::string>(), "ledger signature");
      if (row["task"].is_string()) keep_task(row["task"]);
      page_.push_back(std::move(record));
    }
  }

  void keep_task(const json& row) {
    auto text = row.get<std::string>();
    Bytes sealed(text.size() / 2);
    from_hex(text, sealed, "sealed task");
    Hash hash = sha256(sealed);
    tasks_.emplace(hash, std::move(sealed));
  }

  AdminClient& client_;
  std::string run_;
  std::uint64_t first_ = 0;
  std::deque<LedgerRecord> page_;
  std::map<Hash, Bytes> tasks_;
};

LedgerSources sources_of(AdminClient& client, const std::string& run,
                         const ObjectReader& objects) {
  ProjectFolder folder{client.root()};
  ProjectKeys keys = load_keys(folder);
  LedgerSources sources;
  auto pages = std::make_shared<LedgerPages>(client, run);
  sources.records = [pages](std::uint64_t seq) { return pages->record(seq); };
  sources.objects = [&objects](const Hash& hash) { return objects.read(hash); };
  sources.tasks = [pages](const Hash& hash) { return pages->task(hash); };
  sources.project = keys.id;
  sources.key = keys.project.public_key();
  if (::isatty(STDERR_FILENO) != 0) {
    sources.progress = [](std::uint64_t entries) {
      if (entries % 64 == 0) fmt::print(stderr, "\r{} entries", entries);
    };
  }
  return sources;
}

void finish(const LedgerReport& report, json row, bool as_json,
            const std::string& run) {
  row["ok"] = report.ok();
  row["entries"] = report.entries;
  row["results"] = report.results;
  row["first_difference"] =
      report.ok() ? json(nullptr) : json(report.first_difference);
  if (::isatty(STDERR_FILENO) != 0) fmt::print(stderr, "\r");
  if (as_json) {
    fmt::print("{}\n", row.dump());
  } else if (report.ok()) {
    fmt::print(
        "{}: ok: {} entries, {} results{}\n", run, report.entries,
        report.results,
        row["final_snapshot"].is_null()
            ? ""
            : ", final parameters " + row["final_snapshot"].get<std::string>());
  }
  if (!report.ok()) {
    throw Error(ErrorKind::corrupt, fmt::format("ledger of run {}: {}", run,
                                                report.first_difference));
  }
}

}  // namespace

void add_audit(CLI::App& app, GlobalOptions& global) {
  auto run = std::make_shared<std::string>();
  CLI::App* verify = app.add_subcommand(
      "verify-ledger", "Check a run's ledger: chain, seals, objects");
  verify->add_option("RUN", *run, "Name of the run")->required();
  verify->add_flag("--json", global.json, "Machine-readable output");
  verify->footer("Example:\n  quorate -C my-project verify-ledger first\n");
  verify->callback([run, &global] {
    AdminClient client(global.folder);
    ObjectReader objects(ProjectFolder{client.root()}.objects());
    LedgerReport report = verify_ledger(sources_of(client, *run, objects));
    finish(report, {{"recomputed", 0}, {"final_snapshot", nullptr}},
           global.json, *run);
  });

  CLI::App* replaying = app.add_subcommand(
      "replay", "Rebuild the model from the ledger's updates, bit for bit");
  replaying->add_option("RUN", *run, "Name of the run")->required();
  replaying->add_flag("--json", global.json, "Machine-readable output");
  replaying->footer("Example:\n  quorate -C my-project replay first\n");
  replaying->callback([run, &global] {
    AdminClient client(global.folder);
    ObjectReader objects(ProjectFolder{client.root()}.objects());
    ReplayReport report = replay(sources_of(client, *run, objects));
    finish(report.ledger,
           {{"recomputed", 0},
            {"final_snapshot", report.parameters.hex()},
            {"published", report.published.hex()},
            {"version", report.model ? report.model->version() : 0}},
           global.json, *run);
  });
}

}  // namespace quorate

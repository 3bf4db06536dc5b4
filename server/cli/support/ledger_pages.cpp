#include "server/cli/support/ledger_pages.h"

#include <nlohmann/json.hpp>

#include "base/error.h"

namespace quorate {
namespace {

using nlohmann::json;

Bytes bytes_in(const json& row, const char* name) {
  const json value = row.value(name, json(nullptr));
  if (!value.is_string()) return {};
  const auto& text = value.get_ref<const std::string&>();
  Bytes bytes(text.size() / 2);
  from_hex(text, bytes, name);
  return bytes;
}

}  // namespace

std::optional<LedgerRecord> LedgerPages::record(std::uint64_t seq) {
  if (seq < first_ || seq >= first_ + page_.size()) load(seq);
  if (page_.empty()) return std::nullopt;
  return page_.at(seq - first_);
}

const Bytes& LedgerPages::task(const Hash& workunit) const {
  auto found = tasks_.find(workunit);
  if (found != tasks_.end()) return found->second;
  throw Error(ErrorKind::corrupt,
              "missing from the store, or changed there: restore a backup");
}

std::optional<Claim> LedgerPages::claim(const Hash& hash) const {
  auto found = claims_.find(hash);
  if (found == claims_.end()) return std::nullopt;
  return found->second;
}

bool LedgerPages::are_updates_removed() {
  if (!are_updates_removed_) {
    const json run = client_.call("train-show", {{"run", run_}});
    are_updates_removed_ = run.value("updates_removed", Millis{0}) != 0;
  }
  return are_updates_removed_;
}

LedgerRecord LedgerPages::head() {
  take_page(client_.call("ledger", {{"run", run_}, {"head", true}}));
  first_ = page_.at(0).seq;
  return page_.at(0);
}

void LedgerPages::load(std::uint64_t seq) {
  first_ = seq;
  take_page(client_.call("ledger", {{"run", run_},
                                    {"from", seq},
                                    {"limit", kPage},
                                    {"tasks", with_ == With::tasks}}));
}

void LedgerPages::take_page(const json& rows) {
  page_.clear();
  tasks_.clear();
  claims_.clear();
  for (const json& row : rows) {
    LedgerRecord record;
    record.seq = row["seq"].get<std::uint64_t>();
    record.kind = row["kind"].get<std::string>();
    record.line = row["line"].get<std::string>();
    record.hash =
        parse_hex<Hash>(row["hash"].get<std::string>(), "ledger hash");
    record.signature = parse_hex<Signature>(row["signature"].get<std::string>(),
                                            "ledger signature");
    if (Bytes sealed = bytes_in(row, "task"); !sealed.empty()) {
      Hash hash = sha256(sealed);
      tasks_.emplace(hash, std::move(sealed));
    }
    if (Bytes header = bytes_in(row, "header"); !header.empty()) {
      keep_claim(header);
    }
    page_.push_back(std::move(record));
  }
}

// A header that was damaged serves nobody; the ledger's claim hash remains.
void LedgerPages::keep_claim(ByteView header) {
  try {
    Claim claim = decode_result_header(header).claim;
    claims_.emplace(claim_hash(claim), std::move(claim));
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::corrupt) throw;
  }
}

LedgerSources sources_of(const ProjectFolder& folder, LedgerPages& pages,
                         const ObjectReader& objects) {
  LedgerSources sources;
  sources.records = [&pages](std::uint64_t seq) { return pages.record(seq); };
  sources.objects = [&objects](const Hash& hash) { return objects.read(hash); };
  sources.tasks = [&pages](const Hash& hash) { return pages.task(hash); };
  sources.is_removed = [&](const Hash& update) {
    return !objects.contains(update) && pages.are_updates_removed();
  };
  sources.keys = load_keys(folder).ring;
  return sources;
}

}  // namespace quorate

#include "server/rechecking/ledger_reader.h"

#include "base/error.h"
#include "server/units/sealed_tasks.h"

namespace quorate {
namespace {

constexpr std::uint64_t kPage = 200;  // records: a moment of the writer's time

}  // namespace

LedgerSources LedgerReader::sources() {
  LedgerSources sources;
  sources.records = [this](std::uint64_t seq) -> std::optional<LedgerRecord> {
    if (seq < first_ || seq >= first_ + page_.size()) load(seq);
    if (page_.empty()) return std::nullopt;
    return page_.at(seq - first_);
  };
  sources.objects = [this](const Hash& hash) {
    return state_.objects.read(hash);
  };
  sources.tasks = [this](const Hash& hash) { return task(hash); };
  sources.keys = state_.keys.ring;
  return sources;
}

const Bytes& LedgerReader::task(const Hash& workunit) const {
  auto found = tasks_.find(workunit);
  if (found != tasks_.end()) return found->second;
  throw Error(ErrorKind::corrupt,
              "missing from the store, or changed there: restore a backup");
}

void LedgerReader::load(std::uint64_t seq) {
  first_ = seq;
  tasks_.clear();
  writer_.run([this, seq] {
    page_ = state_.store.ledger(run_, seq, kPage);
    for (const LedgerRecord& record : page_) {
      LedgerEntry entry = parse_entry(record.line);
      const auto* result = std::get_if<ResultAssimilated>(&entry.body);
      if (result == nullptr) continue;
      auto sealed = state_.store.sealed_task(result->workunit);
      if (sealed) tasks_.emplace(result->workunit, std::move(*sealed));
    }
  });
}

}  // namespace quorate

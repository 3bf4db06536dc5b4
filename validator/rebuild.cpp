#include "validator/rebuild.h"

#include <limits>
#include <variant>

#include <fmt/format.h>

#include "base/error.h"

namespace quorate {
namespace {

void expect_ok(const LedgerReport& report) {
  if (report.ok()) return;
  throw Error(ErrorKind::corrupt, report.first_difference);
}

}  // namespace

Rebuild::Rebuild(const LedgerSources& sources, std::set<ResultId> revoked,
                 const ReplayOptions& options)
    : revoked_(std::move(revoked)),
      missing_(revoked_),
      survey_(sources),
      walk_(sources),
      timeline_(
          sources,
          {.is_left_out =
               [this](const ResultAssimilated& e) { return is_left_out(e); },
           .compare_from = std::numeric_limits<std::uint64_t>::max(),
           .max_memory_bytes = options.max_memory_bytes,
           .past_folder = options.past_folder},
          {}) {}

bool Rebuild::is_left_out(const ResultAssimilated& entry) {
  const bool was_revoked = revoked_earlier_.count(entry.result) != 0;
  if (!was_revoked) missing_.erase(entry.result);
  return was_revoked || revoked_.count(entry.result) != 0;
}

void Rebuild::go_on(std::uint64_t entries, const LastUses& to_come) {
  LastUses uses;
  expect_ok(survey_.go_on(entries, [&](const LedgerEntry& entry) {
    note_uses(uses, entry);
    if (const auto* revoked = std::get_if<Revoked>(&entry.body)) {
      if (timeline_.model() != nullptr) {
        throw Error(ErrorKind::corrupt,
                    "rebuild: a revocation while the model is rebuilt: its "
                    "results may be in it by now");
      }
      revoked_earlier_.insert(revoked->results.begin(), revoked->results.end());
    }
  }));
  for (const auto& [base, use] : to_come) uses.insert_or_assign(base, use);
  timeline_.expect_uses(std::move(uses));
  expect_ok(walk_.go_on(
      entries, [&](const LedgerEntry& entry) { timeline_.show(entry); }));
}

ModelState Rebuild::take_model() {
  if (!missing_.empty()) {
    throw Error(ErrorKind::corrupt,
                fmt::format("rebuild: result {} is not in the model: it cannot "
                            "be revoked",
                            *missing_.begin()));
  }
  return *timeline_.take_model();
}

}  // namespace quorate

#include "server/orders/ledger_rows.h"

#include <algorithm>
#include <optional>

#include <nlohmann/json.hpp>

#include "base/error.h"
#include "server/orders/lists.h"
#include "server/orders/named.h"
#include "server/project/project.h"
#include "server/units/sealed_tasks.h"

namespace quorate {
namespace {

using nlohmann::json;

constexpr std::uint64_t kMostEntries = 10'000;  // all are in memory at once

std::optional<ResultAssimilated> result_in(const LedgerRecord& record) {
  if (record.kind != "result") return std::nullopt;
  return std::get<ResultAssimilated>(parse_entry(record.line).body);
}

json task_of(ProjectState& state, const ResultAssimilated& entry) {
  try {
    return to_hex(sealed_task_of(state.store, state.objects, entry.workunit));
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::corrupt) throw;
    return nullptr;  // the auditor says that it is missing
  }
}

json header_of(ProjectState& state, const ResultAssimilated& entry) {
  const std::optional<Result> result = state.store.result(entry.result);
  if (!result || result->header.bytes.empty()) return nullptr;
  return to_hex(result->header.bytes);
}

}  // namespace

json list_ledger(Project& project, const json& arguments) {
  const TrainingRun& training = run_of(project, arguments);
  bool with_tasks = arguments.value("tasks", false);
  json rows = json::array();
  Store& store = project.state().store;
  const auto records =
      arguments.value("head", false)
          ? std::vector{store.last_record(training.run.key).value()}
          : store.ledger(
                training.run.key, arguments.value("from", std::uint64_t{0}),
                std::min(kMostEntries,
                         arguments.value("limit", std::uint64_t{1000})));
  for (const LedgerRecord& record : records) {
    rows.push_back({{"seq", record.seq},
                    {"kind", record.kind},
                    {"line", record.line},
                    {"hash", record.hash.hex()},
                    {"signature", record.signature.hex()}});
    const auto result = with_tasks ? result_in(record) : std::nullopt;
    if (!result) continue;
    rows.back()["task"] = task_of(project.state(), *result);
    rows.back()["header"] = header_of(project.state(), *result);
  }
  return rows;
}

json find_host(Project& project, const json& arguments) {
  const Host& host = host_named(project.state(), arguments.value("host", ""));
  const User* user = project.state().hosts.user(host.user_id);
  return {{"id", host.id},
          {"name", host.name},
          {"user", user == nullptr ? "unknown" : user->name},
          {"key", host.key.hex()}};
}

}  // namespace quorate

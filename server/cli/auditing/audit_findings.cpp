#include "server/cli/auditing/audit_findings.h"

#include <set>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "workunits/claim_difference.h"

namespace quorate {
namespace {

using nlohmann::json;

// A ledger may name a host that the store does not know.
json find_host(AdminClient& client, const PublicKey& key) {
  try {
    return find_host(client, key.hex());
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::usage) throw;
    return {{"id", nullptr},
            {"name", "unknown"},
            {"user", "unknown"},
            {"key", key.hex()}};
  }
}

}  // namespace

json find_host(AdminClient& client, const std::string& host) {
  return client.call("host-find", {{"host", host}});
}

json rows_of(AdminClient& client, const std::vector<FalseResult>& found) {
  json rows = json::array();
  for (const FalseResult& one : found) {
    rows.push_back({{"entry", one.entry},
                    {"result", one.result},
                    {"unit", one.unit},
                    {"host", find_host(client, one.host)},
                    {"first_step", one.first_step},
                    {"last_step", one.last_step}});
  }
  return rows;
}

std::string line_of(const json& row) {
  return fmt::format(
      "ledger entry {}: result {} (unit {} of the run) of host {} ({}, user "
      "{}) "
      "is false: its claim is wrong {}",
      row["entry"].dump(), row["result"].dump(), row["unit"].dump(),
      row["host"]["id"].dump(), row["host"]["name"].get<std::string>(),
      row["host"]["user"].get<std::string>(),
      text_of(Stretch{row["first_step"].get<std::uint32_t>(),
                      row["last_step"].get<std::uint32_t>()}));
}

std::string advice_for(AdminClient& client, const std::string& run,
                       const json& rows) {
  const json state = client.call("train-show", {{"run", run}})["state"];
  const bool is_over = state == "finished" || state == "stopped";
  std::string ids;
  std::set<std::string> hosts;
  for (const json& row : rows) {
    ids += (ids.empty() ? "" : ",") + row["result"].dump();
    hosts.insert(row["host"]["id"].dump());
  }
  std::string advice;
  for (const std::string& host : hosts) {
    advice +=
        fmt::format("{}`quorate host {} {}`", advice.empty() ? "" : " and ",
                    is_over ? "ban" : "purge", host);
  }
  if (is_over) {
    return fmt::format(
        "`quorate replay {} --without-result {} --out FILE` makes a model "
        "without them (the run is over, and its own stays as it is); "
        "--without-host leaves out all that a host contributed; {} keeps its "
        "host from further work",
        run, ids, advice);
  }
  return advice +
         " takes all that the host contributed out of the model, `quorate "
         "result revoke ID` one result";
}

}  // namespace quorate

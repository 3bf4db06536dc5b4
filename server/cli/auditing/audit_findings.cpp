#include "server/cli/auditing/audit_findings.h"

#include <set>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/error.h"

namespace quorate {
namespace {

using nlohmann::json;

// A ledger may name a host that the store does not know.
json find_host(AdminClient& client, const PublicKey& key) {
  try {
    return find_host(client, key.hex());
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::usage) throw;
    return {{"id", nullptr}, {"name", "unknown"}, {"key", key.hex()}};
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
      "ledger entry {}: result {} (unit {}) of host {} ({}) is false: its "
      "claim is wrong from a step between {} and {} on",
      row["entry"].dump(), row["result"].dump(), row["unit"].dump(),
      row["host"]["id"].dump(), row["host"]["name"].get<std::string>(),
      row["first_step"].dump(), row["last_step"].dump());
}

// For each host once. The ledger of a run that is over has ended: what is in
// its model stays.
std::string advice_for(AdminClient& client, const std::string& run,
                       const json& rows) {
  const json state = client.call("train-show", {{"run", run}})["state"];
  const bool is_over = state == "finished" || state == "stopped";
  std::set<std::string> hosts;
  for (const json& row : rows) hosts.insert(row["host"]["id"].dump());
  std::string advice;
  for (const std::string& host : hosts) {
    advice += advice.empty() ? "" : " and ";
    advice += is_over ? fmt::format(
                            "`quorate replay {} --without-host {} "
                            "--out FILE`",
                            run, host)
                      : fmt::format("`quorate host purge {}`", host);
  }
  return advice + (is_over ? " makes a model without it (the run is over)"
                           : " takes the false results out of the model");
}

}  // namespace quorate

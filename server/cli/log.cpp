// log: what operators ordered, and whether all of it is still there.
#include <functional>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/clock.h"
#include "base/error.h"
#include "base/text.h"
#include "server/cli/commands.h"
#include "server/cli/support/client.h"
#include "server/cli/support/table.h"
#include "server/orders/named.h"
#include "workunits/ledger/order_log.h"

namespace quorate {
namespace {

using nlohmann::json;

struct LogOptions {
  std::string since;
  std::string who;
  std::uint64_t limit = 100;
  bool verify = false;
};

OrderRecord record_in(const json& row) {
  OrderRecord record;
  record.seq = row.at("seq");
  record.line = row.at("line");
  record.hash = parse_hex<Hash>(row.at("hash").get<std::string>(), "hash");
  record.signature =
      parse_hex<Signature>(row.at("signature").get<std::string>(), "signature");
  return record;
}

// Shows all records in order; returns the answer with the last of them.
json each_order(
    AdminClient& client,
    const std::function<void(const json& answer, const OrderRecord&)>& see) {
  std::uint64_t from = 1;
  for (;;) {
    json answer = client.call("log", {{"from", from}});
    for (const json& row : answer["rows"]) {
      const OrderRecord record = record_in(row);
      see(answer, record);
      from = record.seq + 1;
    }
    if (answer["rows"].empty()) return answer;
  }
}

json row_of_order(const OrderRecord& record, const OrderEntry& entry) {
  json arguments = json::parse(entry.arguments, nullptr, false);
  if (arguments.is_discarded()) arguments = entry.arguments;  // was too long
  return {{"seq", entry.seq},         {"time", entry.time},
          {"who", entry.who},         {"command", entry.command},
          {"arguments", arguments},   {"why", entry.why},
          {"outcome", entry.outcome}, {"hash", record.hash.hex()}};
}

void show_log(const GlobalOptions& global, const LogOptions& options) {
  AdminClient client(global.folder);
  const Millis since = options.since.empty()
                           ? 0
                           : since_text(options.since, SystemClock().unix_ms());
  std::vector<json> rows;
  each_order(client, [&](const json&, const OrderRecord& record) {
    const OrderEntry entry = parse_order(record.line);
    if (entry.time < since) return;
    if (!options.who.empty() && entry.who != options.who) return;
    rows.push_back(row_of_order(record, entry));
    if (rows.size() > options.limit) rows.erase(rows.begin());
  });
  if (global.json) {
    say("{}\n", json(rows).dump());
    return;
  }
  say("{}", table(rows, {{"ID", "seq"},
                         {"TIME", "time"},
                         {"WHO", "who"},
                         {"COMMAND", "command"},
                         {"ARGUMENTS", "arguments"},
                         {"WHY", "why"},
                         {"OUTCOME", "outcome"}}));
}

void verify_log(const GlobalOptions& global) {
  AdminClient client(global.folder);
  std::optional<OrderChain> chain;
  auto begin = [&](const json& answer) {
    if (chain) return;
    chain.emplace(
        keyring_named(parse_hex<PublicKey>(answer.at("key").get<std::string>(),
                                           "project key"),
                      answer.at("keyring").get<std::string>(), "orders"));
  };
  const json last =
      each_order(client, [&](const json& answer, const OrderRecord& record) {
        begin(answer);
        chain->next(record);
      });
  begin(last);
  chain->expect_all(last.at("made").get<std::uint64_t>());
  if (global.json) {
    say("{}\n", json{{"ok", true},
                     {"orders", chain->count()},
                     {"last", chain->head().hex()}}
                    .dump());
    return;
  }
  say("ok: {} orders, the last is {}\n", chain->count(), chain->head().hex());
}

}  // namespace

void add_log(CLI::App& app, GlobalOptions& global) {
  auto options = std::make_shared<LogOptions>();
  CLI::App* command = app.add_subcommand(
      "log", "Show what operators ordered: who, when, what, why");
  command->add_option("--since", options->since,
                      "Only those of the last 90m, 12h or 7d");
  command->add_option("--who", options->who, "Only those of this Unix user");
  command
      ->add_option("--limit", options->limit, "Show at most the last so many")
      ->capture_default_str();
  command->add_flag("--verify", options->verify,
                    "Check instead that none was changed or removed");
  command->add_flag("--json", global.json, "Machine-readable output");
  command->footer(
      "Example:\n  quorate -C my-project log --since 7d --who anna\n"
      "  quorate -C my-project log --verify\n");
  command->callback([options, &global] {
    if (options->verify) {
      verify_log(global);
    } else {
      show_log(global, *options);
    }
  });
}

}  // namespace quorate

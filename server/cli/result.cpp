// result accept|reject|revoke and workunit cancel|reissue|replicate: what the
// operator decides about single results.
#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/text.h"
#include "server/cli/commands.h"
#include "server/cli/support/client.h"
#include "server/cli/support/confirm.h"
#include "server/orders/result_orders.h"

namespace quorate {
namespace {

using nlohmann::json;

struct HandOrder {
  const char* object;  // "result" or "workunit"
  const char* verb;
  const char* help;
  const char* example;
  bool asks = false;  // it may not be possible to undo it: warning_of()
};

// What is shared by its options and its callback.
struct HandOptions {
  std::int64_t id = 0;
  std::string why;
  bool is_sure = false;
  json more = json::object();
};

void print_answer(const json& row, bool as_json) {
  if (as_json) {
    say("{}\n", row.dump());
    return;
  }
  const json& state =
      row["result"].is_null() ? row["workunit_state"] : row["result_state"];
  const bool is_result = !row["result"].is_null();
  say("{} {} of run {}: {}; {}\n", is_result ? "Result" : "Workunit",
      row[is_result ? "result" : "workunit"].dump(),
      row["run"].get<std::string>(), state.get<std::string>(),
      row["next"].get<std::string>());
}

std::shared_ptr<HandOptions> add_hand_order(CLI::App& group,
                                            GlobalOptions& global,
                                            const HandOrder& order,
                                            CLI::App** added = nullptr) {
  auto options = std::make_shared<HandOptions>();
  CLI::App* command = group.add_subcommand(order.verb, order.help);
  command->add_option("ID", options->id, "As the list shows it")->required();
  command
      ->add_option("--why", options->why,
                   "Why: recorded, and shown with the result on the page")
      ->required();
  if (order.asks) command->add_flag("--yes", options->is_sure, "Do not ask");
  command->add_flag("--json", global.json, "Machine-readable output");
  command->footer(fmt::format("Example:\n  quorate -C my-project {} {} {}\n",
                              order.object, order.verb, order.example));
  const std::string object = order.object;
  const std::string verb = order.verb;
  command->callback([options, object, verb, &global] {
    json arguments = options->more;
    arguments[object] = options->id;
    arguments["why"] = options->why;
    const std::string name = object + "-" + verb;
    const std::string warning = warning_of(name, arguments);
    if (!warning.empty()) {
      confirm(options->is_sure,
              fmt::format("{} {} {}", object, verb, options->id), warning);
    }
    print_answer(AdminClient(global.folder).call(name, arguments), global.json);
  });
  if (added != nullptr) *added = command;
  return options;
}

void add_accept(CLI::App& result, GlobalOptions& global) {
  CLI::App* command = nullptr;
  auto options = add_hand_order(
      result, global,
      {"result", "accept",
       "Have a house worker compute its workunit; the result is valid if it "
       "agrees",
       "12 --why \"its host waits for credit\"\n  quorate -C my-project result "
       "accept 12 --unverified --why \"no house worker has the memory\"",
       true},
      &command);
  command->add_flag_callback(
      "--unverified", [options] { options->more["unverified"] = true; },
      "Accept it without recomputation");
}

}  // namespace

void add_result_orders(CLI::App& result, GlobalOptions& global) {
  add_accept(result, global);
  add_hand_order(result, global,
                 {"result", "reject",
                  "Judge a reported result invalid before it is in the model",
                  "12 --why \"the host's memory is broken\""});
  add_hand_order(
      result, global,
      {"result", "revoke",
       "Take a result that is in the model of a run that goes on out of it "
       "again",
       "12 --why \"audited: it was false\" --yes", true});
}

void add_workunit_orders(CLI::App& workunit, GlobalOptions& global) {
  add_hand_order(workunit, global,
                 {"workunit", "cancel",
                  "Close it: who computes it is told to stop, and nothing of "
                  "it is merged",
                  "7 --why \"its shard is broken\" --yes", true});
  add_hand_order(workunit, global,
                 {"workunit", "reissue",
                  "Give up the results that are out, and send it anew",
                  "7 --why \"its hosts hang\""});
  CLI::App* command = nullptr;
  auto options =
      add_hand_order(workunit, global,
                     {"workunit", "replicate",
                      "Have more results of it made than its quorum needs",
                      "7 --results 2 --why \"a second opinion\""},
                     &command);
  command->add_option_function<std::uint32_t>(
      "--results",
      [options](std::uint32_t count) { options->more["results"] = count; },
      "How many more [1]");
}

void add_result(CLI::App& app, GlobalOptions& global) {
  CLI::App* result = app.add_subcommand(
      "result", "Show one result of a workunit, or decide about it");
  result->require_subcommand(1);
  result->footer(
      "Example:\n  quorate -C my-project result reject 12 --why \"it is "
      "false\"\n");
  add_result_show(*result, global);
  add_result_orders(*result, global);
  CLI::App* workunit =
      app.add_subcommand("workunit", "Show one workunit, or decide about it");
  workunit->require_subcommand(1);
  workunit->footer(
      "Example:\n  quorate -C my-project workunit reissue 7 --why \"its hosts "
      "hang\"\n");
  add_workunit_show(*workunit, global);
  add_workunit_orders(*workunit, global);
}

}  // namespace quorate

// users, user show|ban|pardon: the volunteers' accounts.
#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/text.h"
#include "server/cli/commands.h"
#include "server/cli/support/client.h"
#include "server/cli/support/table.h"

namespace quorate {
namespace {

using nlohmann::json;

const std::vector<Column> kUserColumns = {
    {"ID", "id"},          {"NAME", "name"},       {"HOSTS", "hosts"},
    {"VALID", "valid"},    {"INVALID", "invalid"}, {"CREDIT", "credit"},
    {"SEEN", "last_seen"}, {"STATE", "state"}};

void print_user(const json& row) {
  say("{}", table(json::array({row}), kUserColumns));
  const auto reason = row["ban_reason"].get<std::string>();
  if (!reason.empty()) say("banned: {}\n", reason);
}

void add_list(CLI::App& app, GlobalOptions& global) {
  CLI::App* users =
      app.add_subcommand("users", "List the volunteers' accounts");
  users->add_flag("--json", global.json, "Machine-readable output");
  users->footer("Example:\n  quorate -C my-project users\n");
  users->callback([&global] {
    const json rows = AdminClient(global.folder).call("users", json::object());
    say("{}", global.json ? rows.dump() + "\n" : table(rows, kUserColumns));
  });
}

// user show|ban|pardon USER [--reason TEXT]
void add_order(CLI::App& user, GlobalOptions& global, const std::string& order,
               const std::string& help) {
  struct Options {
    std::string user;
    std::string reason;
  };
  auto options = std::make_shared<Options>();
  CLI::App* command = user.add_subcommand(order, help);
  command->add_option("USER", options->user, "Id, name or key")->required();
  if (order != "show") {
    command->add_option("--reason", options->reason,
                        "Why: recorded with the event, and shown to the "
                        "volunteer if you ban the account");
  }
  command->add_flag("--json", global.json, "Machine-readable output");
  command->footer(
      fmt::format("Example:\n  quorate -C my-project user {} ada\n", order));
  command->callback([options, order, &global] {
    const json row = AdminClient(global.folder)
                         .call("user-" + order, {{"user", options->user},
                                                 {"reason", options->reason}});
    if (global.json) {
      say("{}\n", row.dump());
    } else {
      print_user(row);
    }
  });
}

}  // namespace

void add_users(CLI::App& app, GlobalOptions& global) {
  add_list(app, global);
  CLI::App* user =
      app.add_subcommand("user", "Show one account, or decide about it");
  user->require_subcommand(1);
  add_order(*user, global, "show", "Show its record");
  add_order(*user, global, "ban",
            "Ban all its hosts, and let it register no others");
  add_order(*user, global, "pardon",
            "Let it register hosts again, and those that were banned with it "
            "start again as new hosts");
}

}  // namespace quorate

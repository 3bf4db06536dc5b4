// users, user show|ban|pardon|rename|delete: the volunteers' accounts.
#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/text.h"
#include "server/cli/commands.h"
#include "server/cli/support/client.h"
#include "server/cli/support/confirm.h"
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

struct Options {
  std::string user;
  std::string name;
  std::string reason;
  bool is_sure = false;
};

void give(const GlobalOptions& global, const std::string& order,
          const json& arguments) {
  const json row = AdminClient(global.folder).call("user-" + order, arguments);
  if (global.json) {
    say("{}\n", row.dump());
  } else {
    print_user(row);
  }
}

CLI::App* add_command(CLI::App& user, GlobalOptions& global,
                      const std::shared_ptr<Options>& options,
                      const std::string& order, const std::string& help) {
  CLI::App* command = user.add_subcommand(order, help);
  command->add_option("USER", options->user, "Id, name or key")->required();
  command->add_flag("--json", global.json, "Machine-readable output");
  command->footer(
      fmt::format("Example:\n  quorate -C my-project user {} ada{}\n", order,
                  order == "rename" ? " \"ada l.\"" : ""));
  return command;
}

// user show|ban|pardon USER [--reason TEXT]
void add_order(CLI::App& user, GlobalOptions& global, const std::string& order,
               const std::string& help) {
  auto options = std::make_shared<Options>();
  CLI::App* command = add_command(user, global, options, order, help);
  if (order != "show") {
    command->add_option("--reason", options->reason,
                        "Why: recorded with the event, and shown to the "
                        "volunteer if you ban the account");
  }
  command->callback([options, order, &global] {
    give(global, order, {{"user", options->user}, {"reason", options->reason}});
  });
}

void add_rename(CLI::App& user, GlobalOptions& global) {
  auto options = std::make_shared<Options>();
  CLI::App* command =
      add_command(user, global, options, "rename",
                  "Give it another name, whatever its client says");
  command->add_option("NAME", options->name, "The new name")->required();
  command->callback([options, &global] {
    give(global, "rename", {{"user", options->user}, {"name", options->name}});
  });
}

void add_delete(CLI::App& user, GlobalOptions& global) {
  auto options = std::make_shared<Options>();
  CLI::App* command =
      add_command(user, global, options, "delete",
                  "Remove its name and what is known of its machines; its "
                  "results stay in the models");
  command->add_flag("--yes", options->is_sure, "Do not ask");
  command->callback([options, &global] {
    confirm(options->is_sure, "user delete " + options->user,
            "the account's name and its machines' are removed for good, and "
            "it can take part no more");
    give(global, "delete", {{"user", options->user}});
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
  add_rename(*user, global);
  add_delete(*user, global);
}

}  // namespace quorate

#include "client/stock_boinc/options.h"

#include <CLI/CLI.hpp>

namespace quorate::client {
namespace {

CLI::App* add_command(CLI::App& group, StockArguments& arguments,
                      const char* name, const std::string& text,
                      const std::string& example) {
  CLI::App* command = group.add_subcommand(name, text);
  command->footer("Example:\n  quorate-client boinc " + example);
  command
      ->add_option("--host", arguments.client.host,
                   "address at which the BOINC client listens, HOST:PORT")
      ->capture_default_str();
  command->add_option("--password-file", arguments.client.password_file,
                      "the client's gui_rpc_auth.cfg (default: the one in "
                      "/var/lib/boinc-client or /var/lib/boinc)");
  command->add_flag("--json", arguments.as_json, "for programs");
  return command;
}

}  // namespace

void add_boinc(CLI::App& app, StockArguments& arguments,
               std::function<void()>& action) {
  CLI::App* group = app.add_subcommand(
      "boinc", "Let an installed BOINC client work for a project");
  group->footer(
      "Example:\n  quorate-client boinc attach https://example.org:8470");
  group->require_subcommand(1);

  CLI::App* attach = add_command(
      *group, arguments, "attach",
      "Join a project with the BOINC client of this computer",
      "attach https://example.org:8470#5f2c9a1e77d0b3c48e06d1f2b7a93c55"
      " --name alice");
  attach
      ->add_option("URL", arguments.attach.address,
                   "address of the project, URL[#FINGERPRINT]")
      ->required();
  CLI::Option* key = attach->add_option(
      "--key", arguments.attach.key,
      "key of your account at the project (default: make a new account)");
  attach
      ->add_option("--name", arguments.attach.name,
                   "your name on the project's page, for a new account")
      ->excludes(key);
  attach->callback([&] {
    action = [&] {
      attach_stock(arguments.client, arguments.attach, arguments.as_json);
    };
  });

  CLI::App* status = add_command(
      *group, arguments, "status",
      "Show what the BOINC client does for Quorate projects", "status");
  status->callback([&] {
    action = [&] { show_stock(arguments.client, arguments.as_json); };
  });

  CLI::App* detach = add_command(*group, arguments, "detach",
                                 "Leave a project with the BOINC client: gives "
                                 "up its tasks and files there",
                                 "detach https://example.org:8470");
  detach->add_option("URL", arguments.detach, "address of the project")
      ->required();
  detach->add_flag("--yes", arguments.is_agreed, "do not ask");
  detach->callback([&] {
    action = [&] {
      detach_stock(arguments.client, arguments.detach, arguments.is_agreed,
                   arguments.as_json);
    };
  });
}

}  // namespace quorate::client

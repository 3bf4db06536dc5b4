// operators list|web: who may give orders, and accounts for the page for
// administration.
#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/clock.h"
#include "base/error.h"
#include "base/text.h"
#include "server/cli/commands.h"
#include "server/cli/support/password.h"
#include "server/cli/support/table.h"
#include "server/settings/address.h"
#include "server/settings/operation_lock.h"
#include "server/settings/project_folder.h"
#include "server/settings/settings.h"
#include "server/web/web_operators.h"

namespace quorate {
namespace {

using nlohmann::json;

struct WebOptions {
  std::string name;
  std::string role = "operator";
  std::string password_file;
  bool remove = false;
};

// Where the page is, or why it is nowhere.
std::string where(const ServerSettings& settings) {
  const Endpoint endpoint = parse_endpoint(settings.listen);
  const bool is_local = is_loopback(endpoint.address);
  if (settings.plain_http && !is_local) {
    return "But the server speaks plain HTTP to other machines (plain_http, "
           "listen), and the page is not served like that: listen on "
           "127.0.0.1, behind the proxy on this machine that ends TLS.";
  }
  const bool is_tls = speaks_tls(settings, endpoint.address);
  const auto url = volunteers_url(settings.url, endpoint, is_tls);
  return fmt::format(
      "Log in at {}/admin",
      url.value_or(
          fmt::format("{}://{}", is_tls ? "https" : "http", settings.listen)));
}

void print_made(const GlobalOptions& global, const WebOperator& made,
                const ServerSettings& settings) {
  const std::string url = otpauth_url(settings.name, made.name, made.secret);
  const std::string secret = base32(made.secret.view());
  if (global.json) {
    say("{}\n", json{{"name", made.name},
                     {"guest", made.is_guest},
                     {"secret", secret},
                     {"otpauth", url}}
                    .dump());
    return;
  }
  say("{} {} may log in. Give this to an authenticator app; it is not shown "
      "again:\n\n  secret  {}\n  or      {}\n\n{}\n",
      made.is_guest ? "Guest" : "Operator", made.name, secret, url,
      where(settings));
}

void set_web_operator(const GlobalOptions& global, const WebOptions& options) {
  const std::string what = "operators web " + options.name;
  if (!is_web_name(options.name)) {
    throw Error(ErrorKind::usage,
                fmt::format("{}: a name has 1 to 32 of a-z, 0-9, \".\", \"_\" "
                            "and \"-\"",
                            what));
  }
  const ProjectFolder folder{global.folder};
  load_keys(folder);  // says so if there is no project
  const ServerSettings settings = load_settings(folder.settings());
  std::optional<WebOperator> made;
  if (!options.remove) {
    made = new_web_operator(options.name, options.role == "guest",
                            new_password(what, options.password_file),
                            SystemClock().unix_ms());
  }
  const FileLock lock = lock_for("operators web", folder.web_lock(),
                                 "another `operators web` command");
  std::vector<WebOperator> all = load_web_operators(folder.web_operators());
  const std::size_t before = all.size();
  std::erase_if(
      all, [&](const WebOperator& one) { return one.name == options.name; });
  if (options.remove && all.size() == before) {
    throw Error(ErrorKind::usage,
                fmt::format("{}: there is none of this name: see `quorate "
                            "operators list`",
                            what));
  }
  if (made) all.push_back(*made);
  if (all.size() > kMostWebOperators) {
    throw Error(ErrorKind::usage,
                fmt::format("{}: there are {} already, and no more are kept: "
                            "remove one",
                            what, kMostWebOperators));
  }
  save_web_operators(folder.web_operators(), all);
  if (made) {
    print_made(global, *made, settings);
  } else if (global.json) {
    say("{}\n", json{{"removed", options.name}}.dump());
  } else {
    say("{} may not log in any more, and is logged out.\n", options.name);
  }
}

void list_operators(const GlobalOptions& global) {
  const ProjectFolder folder{global.folder};
  load_keys(folder);
  const ServerSettings settings = load_settings(folder.settings());
  json rows = json::array();
  auto add = [&](const std::string& name, const char* by, const char* role,
                 const json& made) {
    rows.push_back(
        {{"name", name}, {"by", by}, {"role", role}, {"created", made}});
  };
  for (const std::string& name : settings.operators) {
    add(name, "Unix user", "operator", nullptr);
  }
  for (const std::string& name : settings.guests) {
    add(name, "Unix user", "guest", nullptr);
  }
  for (const WebOperator& one : load_web_operators(folder.web_operators())) {
    add(one.name, "web", one.is_guest ? "guest" : "operator", one.made);
  }
  const std::vector<Column> columns = {
      {"NAME", "name"}, {"BY", "by"}, {"ROLE", "role"}, {"MADE", "created"}};
  say("{}", global.json ? rows.dump() + "\n" : table(rows, columns));
}

void add_web(CLI::App& group, GlobalOptions& global) {
  auto options = std::make_shared<WebOptions>();
  CLI::App* command = group.add_subcommand(
      "web",
      "Make an account for the page /admin, or give it a new password and a "
      "new authenticator; whoever is logged in with it is logged out");
  command
      ->add_option("NAME", options->name, "Shown in the order log as web:NAME")
      ->required();
  command
      ->add_option("--role", options->role,
                   "operator may give orders, guest may only look")
      ->check(CLI::IsMember({"operator", "guest"}))
      ->capture_default_str();
  CLI::Option* file =
      command->add_option("--password-file", options->password_file,
                          "Take the first line of this file instead of asking");
  command->add_flag("--remove", options->remove, "Remove the account")
      ->excludes(file);
  command->add_flag("--json", global.json, "Machine-readable output");
  command->footer(
      "Examples:\n  quorate -C my-project operators web anna\n"
      "  quorate -C my-project operators web eve --role guest\n"
      "  quorate -C my-project operators web eve --remove\n");
  command->callback([options, &global] { set_web_operator(global, *options); });
}

}  // namespace

void add_operators(CLI::App& app, GlobalOptions& global) {
  CLI::App* group = app.add_subcommand(
      "operators", "Who may give orders beside the project's owner");
  group->require_subcommand(1);
  group->footer("Example:\n  quorate -C my-project operators web anna\n");
  CLI::App* list = group->add_subcommand(
      "list", "Unix users of quorate.toml, and accounts for the page /admin");
  list->add_flag("--json", global.json, "Machine-readable output");
  list->footer("Example:\n  quorate -C my-project operators list\n");
  list->callback([&global] { list_operators(global); });
  add_web(*group, global);
}

}  // namespace quorate

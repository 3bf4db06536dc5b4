#include "server/serving/serve.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "base/error.h"
#include "server/cli/commands.h"
#include "server/cli/embedded.h"
#include "server/settings/project_folder.h"

namespace quorate {
namespace {

// Of two who start at once the project's own lock still lets only one through.
void expect_not_served(const ProjectFolder& folder) {
  try {
    FileLock lock(folder.lock());
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::denied) throw;
    bool is_server = fs::exists(folder.admin_socket());
    throw Error(ErrorKind::denied,
                fmt::format("serve {0}: another quorate {1} this project "
                            "(process {2}){3}",
                            folder.root.string(),
                            is_server ? "serve runs" : "command works on",
                            read_text_file(folder.lock(), 64),
                            is_server ? fmt::format("; see `quorate -C {} "
                                                    "status`",
                                                    folder.root.string())
                                      : ": try again when it has ended"));
  }
}

}  // namespace

void add_serve(CLI::App& app, GlobalOptions& global) {
  struct Options {
    std::optional<std::string> listen;
    std::optional<std::uint32_t> house_workers;
    std::string roles;
    bool plain_http = false;
    bool tls = false;
  };
  auto options = std::make_shared<Options>();
  CLI::App* command =
      app.add_subcommand("serve", "Serve the project until stopped");
  command->add_option("--listen", options->listen,
                      "ADDRESS:PORT [the setting, 127.0.0.1:8470]");
  command
      ->add_option("--house-workers", options->house_workers,
                   "Trusted workers to start [the setting, 1]")
      ->check(CLI::Range(0U, kMostHouseWorkers));
  command->add_option(
      "--roles", options->roles,
      "Daemons to run: scheduler, validator, assimilator, evaluator [all]");
  command->add_flag("--plain-http", options->plain_http,
                    "No TLS, even beyond loopback: use it only behind a proxy "
                    "that handles TLS");
  command->add_flag("--tls", options->tls, "Use TLS on loopback, too");
  command->add_flag(
      "--json", global.json,
      "Print the address as one line of JSON once the server listens");
  command->footer(
      "Example:\n  quorate -C my-project serve --listen "
      "0.0.0.0:8470\n");
  command->callback([options, &global] {
    ProjectFolder folder{global.folder};
    load_keys(folder);
    ServeOptions serve_options;
    serve_options.settings = load_settings(folder.settings());
    expect_settings_files(folder.settings());
    if (options->listen) serve_options.settings.listen = *options->listen;
    if (options->house_workers) {
      serve_options.settings.house_workers = *options->house_workers;
    }
    if (options->plain_http) serve_options.settings.plain_http = true;
    serve_options.force_tls = options->tls;
    serve_options.as_json = global.json;
    serve_options.roles = parse_roles(options->roles);
    serve_options.worker = parse_hex<Hash>(embedded::worker_sha256, "worker");
    expect_not_served(folder);
    serve(folder.root, serve_options);
  });
}

}  // namespace quorate

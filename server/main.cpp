// The program `quorate`: server and admin CLI.
#include <csignal>
#include <cstdio>
#include <exception>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "base/error.h"
#include "base/log.h"
#include "base/text.h"
#include "commandline/man_page.h"
#include "commandline/wrong_usage.h"
#include "server/cli/commands.h"

namespace {

constexpr int kFailed = 1;
constexpr int kWrongUsage = 2;

int run(int argc, char** argv) {
  CLI::App app("Quorate: train deep networks on volunteers' machines.",
               "quorate");
  app.set_version_flag("--version", QUORATE_VERSION);
  app.require_subcommand(1);
  app.footer(
      "Example:\n"
      "  quorate init my-project\n"
      "  quorate -C my-project dataset add glyphs\n"
      "  quorate -C my-project train create first --dataset glyphs\n"
      "  quorate -C my-project serve\n");
  quorate::GlobalOptions options;
  app.add_option("-C", options.folder, "The project's folder")
      ->type_name("DIR")
      ->capture_default_str();
  quorate::add_init(app, options);
  quorate::add_dataset(app, options);
  quorate::add_train(app, options);
  quorate::add_serve(app, options);
  quorate::add_show(app, options);
  quorate::add_users(app, options);
  quorate::add_storage(app, options);
  quorate::add_by_hand(app, options);
  quorate::add_result(app, options);
  quorate::add_log(app, options);
  quorate::add_operators(app, options);
  quorate::add_audit(app, options);
  quorate::add_export(app, options);
  quorate::add_verify_model(app, options);
  quorate::add_boinc(app, options);
  quorate::add_backup(app, options);
  quorate::add_peers(app, options);
  quorate::add_keys(app, options);
  quorate::add_simulate(app, options);
  quorate::add_completion(app, options);
  quorate::commandline::add_man_page(app, QUORATE_VERSION);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return quorate::commandline::report(app, error, argc, argv);
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  std::signal(SIGPIPE, SIG_IGN);
  try {
    // To standard error: standard output is what a command was asked for.
    quorate::start_logging(quorate::LogLevel::warning);
    return run(argc, argv);
  } catch (const quorate::Error& error) {
    quorate::say(stderr, "quorate: {}\n", error.what());
    return error.kind() == quorate::ErrorKind::usage ? kWrongUsage : kFailed;
  } catch (const std::exception& error) {
    quorate::say(stderr, "quorate: {}\n", error.what());
    return kFailed;
  }
}

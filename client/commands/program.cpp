#include "client/commands/program.h"

#include <csignal>
#include <functional>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/error.h"
#include "base/log.h"
#include "base/text.h"
#include "client/commands/at_service.h"
#include "client/commands/commands.h"
#include "client/permission/prefs.h"
#include "client/stock_boinc/options.h"
#include "commandline/completion.h"
#include "commandline/man_page.h"
#include "commandline/wrong_usage.h"

namespace quorate::client {
namespace {

// Everything that arguments can set; commands pick what is theirs.
struct Arguments {
  std::string dir;
  AttachOptions attach;
  std::string detach;
  bool deletes_account = false;
  RunOptions run;
  bool as_json = false;
  std::string pause_for;
  std::size_t lines = 50;
  bool follow = false;
  UiOptions ui;
  ReceiptOptions receipt;
  LedgerOptions ledger;
  SiteOptions site;
  StockArguments stock;
  std::string pref_key;
  std::vector<std::string> pref_value;  // words of one value

  fs::path folder() const {
    return dir.empty() ? default_data_folder() : fs::path(dir);
  }
};

using Action = std::function<void()>;

CLI::App* add_command(CLI::App& app, Arguments& arguments, const char* name,
                      const std::string& text, const std::string& example) {
  CLI::App* command = app.add_subcommand(name, text);
  command->footer("Example:\n  quorate-client " + example);
  command->add_option("--dir", arguments.dir,
                      "data folder (default: $XDG_DATA_HOME/quorate or "
                      "~/.local/share/quorate)");
  return command;
}

void add_json(CLI::App* command, Arguments& arguments) {
  command->add_flag("--json", arguments.as_json, "for programs");
}

void add_attach(CLI::App& app, Arguments& arguments, Action& action) {
  CLI::App* command = add_command(
      app, arguments, "attach", "Join a project",
      "attach https://example.org:8470#5f2c9a1e77d0b3c48e06d1f2b7a93c55"
      " --name alice");
  command
      ->add_option("URL", arguments.attach.address,
                   "address of the project, URL[#FINGERPRINT]")
      ->required();
  command->add_option("--account", arguments.attach.account,
                      "account.key of another machine of yours, to join both "
                      "under one user");
  command->add_option("--name", arguments.attach.name,
                      "your name on the project's page");
  command->add_option("--host-name", arguments.attach.host_name,
                      "name of this computer on the project's page; without "
                      "it a neutral one, never the machine's own");
  add_json(command, arguments);
  command->callback([&] {
    action = [&] {
      attach(arguments.folder(), arguments.attach, arguments.as_json);
    };
  });
}

void add_detach(CLI::App& app, Arguments& arguments, Action& action) {
  CLI::App* command =
      add_command(app, arguments, "detach",
                  "Leave a project: gives up unfinished results and removes "
                  "its files; keeps account.key and host.key",
                  "detach https://example.org:8470");
  command
      ->add_option("URL", arguments.detach,
                   "address of the project, or at least the first 8 digits of "
                   "its fingerprint")
      ->required();
  command->add_flag("--delete-account", arguments.deletes_account,
                    "have the project delete your account there, with all its "
                    "computers: names go, results stay; cannot be undone");
  add_json(command, arguments);
  command->callback([&] {
    action = [&] {
      detach(arguments.folder(), arguments.detach, arguments.deletes_account,
             arguments.as_json);
    };
  });
}

void add_run(CLI::App& app, Arguments& arguments, Action& action,
             ResultTamper* tamper) {
  CLI::App* command =
      add_command(app, arguments, "run", "Compute until told to stop (Ctrl-C)",
                  "run --threads 2 --cpu-percent 50");
  RunSettings& run = arguments.run.settings;
  command->add_option("--project", arguments.run.project,
                      "address of the project, or at least the first 8 digits "
                      "of its fingerprint; needed when several are attached");
  command
      ->add_option("--device", run.devices,
                   "devices that compute, one worker each, such as "
                   "cuda:0,cuda:1,cpu (quorate-worker --list-devices lists "
                   "them); auto: the CPU and every GPU that is faster")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->capture_default_str();
  command
      ->add_option("--tasks", run.tasks,
                   "results that the CPU computes at the same time")
      ->check(CLI::Range(1, 64))
      ->capture_default_str();
  command
      ->add_option("--threads", run.threads,
                   "threads of each task (default: the cores that the "
                   "preference allows, shared by the tasks)")
      ->check(CLI::Range(1, 1024));
  command
      ->add_option("--cpu-percent", run.cpu_percent,
                   "percentage of the time that the CPU computes (default: the "
                   "preference)")
      ->check(CLI::Range(1, 100));
  command
      ->add_option("--gpu-percent", run.gpu_percent,
                   "percentage of the time that a GPU computes (default: the "
                   "preference)")
      ->check(CLI::Range(1, 100));
  CLI::Option* once =
      command->add_flag("--once", run.once, "report one result, then exit");
  command
      ->add_flag("--wait", arguments.run.waits,
                 "without a project wait for one to be attached; for services")
      ->excludes(once);
  command->add_option(
      "--control", arguments.run.control,
      "socket by which others who sit at this computer may "
      "command this client: attach, detach, pause, finish, "
      "resume, prefs, log, ui; and everybody status; for services");
  command->callback([&, tamper] {
    action = [&, tamper] {
      run_agent(arguments.folder(), arguments.run, tamper);
    };
  });
}

void add_small_commands(CLI::App& app, Arguments& arguments, Action& action) {
  CLI::App* status = add_command(app, arguments, "status",
                                 "Show projects, tasks and what became of them",
                                 "status --json");
  add_json(status, arguments);
  status->callback([&] {
    action = [&] { show_status(arguments.folder(), arguments.as_json); };
  });
  CLI::App* pausing = add_command(app, arguments, "pause",
                                  "Stop computing, for a while or until "
                                  "`resume`; a restart does not end the pause",
                                  "pause 1h30m");
  CLI::Option* for_option =
      pausing->add_option("--for", arguments.pause_for, "the same as DURATION");
  pausing
      ->add_option("DURATION", arguments.pause_for,
                   "how long: 90s, 45m, 1h30m, 1d (default: until resume)")
      ->excludes(for_option);
  add_json(pausing, arguments);
  pausing->callback([&] {
    action = [&] {
      pause(arguments.folder(), arguments.pause_for, arguments.as_json);
    };
  });
  CLI::App* finishing = add_command(
      app, arguments, "finish",
      "Compute and report what is here, then rest until `resume`", "finish");
  add_json(finishing, arguments);
  finishing->callback(
      [&] { action = [&] { finish(arguments.folder(), arguments.as_json); }; });
  CLI::App* resuming =
      add_command(app, arguments, "resume",
                  "Compute again after `pause` or `finish`", "resume");
  add_json(resuming, arguments);
  resuming->callback(
      [&] { action = [&] { resume(arguments.folder(), arguments.as_json); }; });
}

void add_log(CLI::App& app, Arguments& arguments, Action& action) {
  CLI::App* command = add_command(app, arguments, "log",
                                  "Show what the agent has logged", "log -f");
  command->add_flag("-f,--follow", arguments.follow,
                    "keep showing new lines until Ctrl-C");
  command->add_option("--lines", arguments.lines, "how many lines to show")
      ->check(CLI::Range(0, 1'000'000))
      ->capture_default_str();
  command->callback([&] {
    action = [&] {
      show_log(arguments.folder(), arguments.lines, arguments.follow);
    };
  });
}

void add_ui(CLI::App& app, Arguments& arguments, Action& action) {
  CLI::App* command = add_command(
      app, arguments, "ui",
      "Serve a page for your browser, on this machine only, until Ctrl-C",
      "ui --open");
  command->add_option("LINK", arguments.ui.link,
                      "quorate://HOST:PORT#FINGERPRINT, as a project's page "
                      "links to: the page asks whether to join it");
  command->add_option("--port", arguments.ui.port, "default: any free one")
      ->check(CLI::Range(0, 65535));
  command->add_flag("--open", arguments.ui.should_open,
                    "open it in the browser");
  command->add_flag("--until-closed", arguments.ui.until_closed,
                    "end when nobody has had the page open for five minutes");
  add_json(command, arguments);
  command->callback([&] {
    action = [&] {
      arguments.ui.as_json = arguments.as_json;
      run_ui(arguments.folder(), arguments.ui);
    };
  });
}

void add_prefs(CLI::App& app, Arguments& arguments, Action& action) {
  CLI::App* prefs = add_command(
      app, arguments, "prefs",
      "Show or change when and how much this computer works; a running agent "
      "follows within seconds",
      "prefs set hours \"mon-fri 22:00-07:00; sat,sun 00:00-24:00\"");
  add_json(prefs, arguments);
  prefs->callback([&] {
    if (action) return;  // set and reset come first
    action = [&] { show_prefs(arguments.folder(), arguments.as_json); };
  });
  CLI::App* setting = add_command(*prefs, arguments, "set", "Set a preference",
                                  "prefs set max_load 25");
  setting->add_option("KEY", arguments.pref_key, "one that `prefs` shows")
      ->required();
  setting
      ->add_option("VALUE", arguments.pref_value,
                   "its new value; may be several words, as for hours")
      ->required();
  add_json(setting, arguments);
  setting->callback([&] {
    action = [&] {
      set_pref(arguments.folder(), arguments.pref_key,
               fmt::format("{}", fmt::join(arguments.pref_value, " ")),
               arguments.as_json);
    };
  });
  CLI::App* resetting =
      add_command(*prefs, arguments, "reset", "Go back to the default value",
                  "prefs reset max_load");
  resetting->add_option("KEY", arguments.pref_key, "default: all of them");
  add_json(resetting, arguments);
  resetting->callback([&] {
    action = [&] {
      reset_prefs(arguments.folder(), arguments.pref_key, arguments.as_json);
    };
  });
}

void add_receipt(CLI::App& app, Arguments& arguments, Action& action) {
  CLI::App* command =
      add_command(app, arguments, "receipt",
                  "Fetch the project's sealed statement of what this computer "
                  "did, or check such a file",
                  "receipt --out mine.receipt\n"
                  "  quorate-client receipt --check mine.receipt --key "
                  "5f2c9a1e77d0b3c48e06d1f2b7a93c55");
  ReceiptOptions& receipt = arguments.receipt;
  CLI::Option* url = command->add_option(
      "URL", receipt.project,
      "address of the project, or at least the first 8 digits of its "
      "fingerprint; needed when several are attached");
  CLI::Option* out =
      command->add_option("--out", receipt.out,
                          "file to write (default: "
                          "quorate-FINGERPRINT-DAY.receipt in this folder)");
  CLI::Option* force = command->add_flag("--force", receipt.may_replace,
                                         "overwrite an existing file");
  CLI::Option* check =
      command
          ->add_option("--check", receipt.check,
                       "check this file instead, without asking the project")
          ->excludes(url)
          ->excludes(out)
          ->excludes(force);
  command
      ->add_option("--key", receipt.key,
                   "fingerprint of the project that must have sealed the file "
                   "(default: any attached project)")
      ->needs(check);
  command
      ->add_option("--ledger", receipt.ledger,
                   "a file that `ledger` wrote: it must show what the receipt "
                   "says of its run")
      ->needs(check);
  add_json(command, arguments);
  command->callback([&] {
    action = [&] {
      const ReceiptOptions& wanted = arguments.receipt;
      auto act_on = wanted.check.empty() ? fetch_receipt : check_receipt;
      act_on(arguments.folder(), wanted, arguments.as_json);
    };
  });
}

void add_ledger(CLI::App& app, Arguments& arguments, Action& action) {
  CLI::App* command = add_command(
      app, arguments, "ledger",
      "Fetch the sealed history of a run, or go on with such a file: notices "
      "when the project has changed it, by the file and by your receipts",
      "ledger first --out first.ledger");
  LedgerOptions& ledger = arguments.ledger;
  command->add_option("RUN", ledger.run, "name of the run")->required();
  command->add_option("--out", ledger.out,
                      "file to write or to go on with (default: RUN.ledger in "
                      "this folder)");
  command->add_option("--project", ledger.project,
                      "address of the project, or at least the first 8 digits "
                      "of its fingerprint; needed when several are attached");
  add_json(command, arguments);
  command->callback([&] {
    action = [&] {
      fetch_ledger(arguments.folder(), arguments.ledger, arguments.as_json);
    };
  });
}

// What create and join have in common.
void add_site_place(CLI::App* command, Arguments& arguments) {
  command
      ->add_option("--address", arguments.site.addresses,
                   "where the other computers reach this one; may be given "
                   "several times (default: all its addresses)")
      ->allow_extra_args(false);
  command
      ->add_option("--port", arguments.site.port,
                   "where it listens for them: a firewall must let them in "
                   "(default: any free one)")
      ->check(CLI::Range(0, 65535));
  add_json(command, arguments);
}

void add_site(CLI::App& app, Arguments& arguments, Action& action) {
  CLI::App* site = add_command(
      app, arguments, "site",
      "Let your computers in one place exchange models directly, instead of "
      "through the project's server",
      "site create --port 8471\n  quorate-client site show");
  site->require_subcommand(1);
  const auto act_on =
      [&](CLI::App* command,
          void (*perform)(const fs::path&, const SiteOptions&, bool)) {
        command->callback([&arguments, &action, perform] {
          action = [&arguments, perform] {
            perform(arguments.folder(), arguments.site, arguments.as_json);
          };
        });
      };
  CLI::App* create =
      add_command(*site, arguments, "create",
                  "Make a site, and the secret that its computers share",
                  "site create --address 192.168.1.7 --port 8471");
  add_site_place(create, arguments);
  act_on(create, create_site);
  CLI::App* join = add_command(
      *site, arguments, "join",
      "Join this computer to a site; again with the same secret to change "
      "address or port",
      "site join -");
  join->add_option("SECRET", arguments.site.secret,
                   "what `site create` printed; -: read from standard input, "
                   "for other users can see command lines")
      ->required();
  add_site_place(join, arguments);
  act_on(join, join_site);
  CLI::App* leave =
      add_command(*site, arguments, "leave",
                  "Leave the site and forget its secret", "site leave");
  add_json(leave, arguments);
  act_on(leave, leave_site);
  CLI::App* show = add_command(
      *site, arguments, "show",
      "Show the site, its other computers and what was exchanged with them",
      "site show --json");
  add_json(show, arguments);
  act_on(show, show_site);
}

commandline::Lister list_of_names() {
  return [](const std::string&) {
    std::vector<std::string> keys;
    for (const PrefInfo& info : pref_table()) keys.emplace_back(info.key);
    return keys;
  };
}

// Runs what the arguments ask for; the last catch of the program.
int act(const char* name, const Action& action) {
  try {
    action();
    return 0;
  } catch (const Error& e) {
    say(stderr, "{}: {}\n", name, e.what());
    return e.kind() == ErrorKind::usage ? 2 : 1;
  } catch (const std::exception& e) {
    say(stderr, "{}: {}\n", name, e.what());
    return 1;
  }
}

}  // namespace

int run_program(const char* name, int argc, char** argv, ResultTamper* tamper) {
  CLI::App app(
      "Quorate client: lends this computer to the training of networks", name);
  app.footer(
      "Example:\n  quorate-client attach https://example.org:8470\n"
      "  quorate-client run");
  app.require_subcommand(1);
  app.set_version_flag("--version", QUORATE_VERSION);
  Arguments arguments;
  Action action;
  app.add_option("--dir", arguments.dir, "data folder");
  add_attach(app, arguments, action);
  add_detach(app, arguments, action);
  add_run(app, arguments, action, tamper);
  add_small_commands(app, arguments, action);
  add_log(app, arguments, action);
  add_prefs(app, arguments, action);
  add_ui(app, arguments, action);
  add_receipt(app, arguments, action);
  add_ledger(app, arguments, action);
  add_site(app, arguments, action);
  add_boinc(app, arguments.stock, action);
  commandline::add_completion(app, {{"KEY", "prefs"}}, list_of_names());
  commandline::add_man_page(app, QUORATE_VERSION);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& e) {
    return commandline::report(app, e, argc, argv);
  }
  start_logging(LogLevel::info);
  // A worker that ends must not take us along; writing to it fails instead.
  std::signal(SIGPIPE, SIG_IGN);
  int code = 0;
  const std::vector<std::string> words(argv + 1, argv + argc);
  if (arguments.dir.empty() && is_for_this_service(words)) {
    action = [&] { code = act_at_service(words); };
  }
  const int failure = act(name, action);
  return failure != 0 ? failure : code;
}

}  // namespace quorate::client

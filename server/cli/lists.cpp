// workunits, results: the operator's lists, filtered by the server.
#include <cstdlib>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/text.h"
#include "server/cli/commands.h"
#include "server/cli/forward.h"
#include "server/cli/support/client.h"
#include "server/cli/support/table.h"
#include "server/cli/support/watch.h"

namespace quorate {
namespace {

using nlohmann::json;

struct ListKind {
  std::string name;  // of the order, too
  std::string help;
  std::string states;  // what --state takes
  std::string example;
  std::vector<Column> columns;
};

const std::vector<ListKind>& list_kinds() {
  static const std::vector<ListKind> kKinds = {
      {"workunits",
       "Units of work, newest first",
       "Only those in this state (open, validated, assimilated, credited, "
       "cancelled, diverged, failed), or with this check (spot, recheck, "
       "sound, unsound, revoked)",
       "workunits --state open --since 6h",
       {{"ID", "id"},
        {"RUN", "run"},
        {"UNIT", "unit_index"},
        {"STATE", "state"},
        {"CHECK", "check"},
        {"BASE", "base_version"},
        {"EPOCH", "epoch"},
        {"SAMPLES", "samples"},
        {"CANONICAL", "canonical_result"},
        {"CREATED", "created"}}},
      {"results",
       "Results, newest first",
       "Only those with this word in STATE (unsent, in_progress, over), "
       "OUTCOME "
       "(success, client_error, no_reply, didnt_need, validate_error) or "
       "VALIDATE (valid, invalid, inconclusive, too_late); waiting: reported "
       "and not judged",
       "results --host attic --state invalid --since 2d",
       {{"ID", "id"},
        {"RUN", "run"},
        {"WORKUNIT", "workunit"},
        {"HOST", "host_shown"},
        {"USER", "user"},
        {"DEVICE", "device"},
        {"STATE", "server_state"},
        {"OUTCOME", "outcome"},
        {"VALIDATE", "validate_state"},
        {"REPORTED", "received"},
        {"REASON", "reason"}}}};
  return kKinds;
}

// "7 attic" where a row has a host: names alone are often the same.
void name_hosts(json& rows) {
  for (json& row : rows) {
    if (row.value("host", 0) == 0) continue;
    row["host_shown"] = fmt::format("{} {}", row["host"].dump(),
                                    cell("host_name", row["host_name"]));
  }
}

std::string rest_of(const json& answer) {
  const auto total = answer["total"].get<std::uint64_t>();
  const std::size_t shown = answer["rows"].size();
  if (total <= shown) return "";
  return fmt::format("{} of {} are shown: --limit shows more\n", shown, total);
}

std::string text_of(json answer, const std::vector<Column>& columns) {
  name_hosts(answer["rows"]);
  return table(answer["rows"], columns) + rest_of(answer);
}

struct ListOptions {
  std::shared_ptr<json> arguments = std::make_shared<json>(json::object());
  std::uint64_t limit = 100;
  bool rejected = false;
  std::optional<double> watch;  // seconds between looks
};

double seconds_between_looks(const std::string& text) {
  constexpr double kUsual = 2;
  constexpr double kLeast = 0.1;
  constexpr double kMost = 86400;
  if (text == "true") return kUsual;  // CLI11's word for no value
  char* end = nullptr;
  const double seconds = std::strtod(text.c_str(), &end);
  if (end == text.c_str() || *end != 0 || !(seconds >= kLeast) ||
      seconds > kMost) {
    throw Error(ErrorKind::usage,
                fmt::format("--watch \"{}\": expected seconds from {} to {} or "
                            "nothing; a run's name comes before it",
                            text, kLeast, kMost));
  }
  return seconds;
}

void add_filters(CLI::App* command, const ListKind& kind,
                 const std::shared_ptr<ListOptions>& options) {
  const auto& arguments = options->arguments;
  CLI::Option* run =
      forward(command, arguments, "RUN", "run", "Only those of this run");
  forward(command, arguments, "--run", "run", "The same")->excludes(run);
  forward(command, arguments, "--host", "host",
          "Only those of this host (id, name or key)");
  forward(command, arguments, "--user", "user",
          "Only those of this user (id, name or key)");
  forward(command, arguments, "--state", "state", kind.states);
  forward(command, arguments, "--device", "device",
          "Only those reported from a device with this in its name: cuda, "
          "cpu:avx2");
  forward(command, arguments, "--since", "since",
          kind.name == "results"
              ? "Only those sent or reported since: 30m, 6h, 2d ago, or a date "
                "like 2026-11-24T10:30"
              : "Only those made, judged, merged or checked since: 30m, 6h, 2d "
                "ago, or a date like 2026-11-24T10:30")
      ->type_name("TIME");
  command->add_option("--limit", options->limit, "Show at most this many rows")
      ->capture_default_str();
  if (kind.name == "results") {
    command->add_flag("--rejected", options->rejected,
                      "The same as --state invalid");
  }
}

json ask(AdminClient& client, const std::string& order,
         const ListOptions& options) {
  json arguments = *options.arguments;
  arguments["limit"] = options.limit;
  if (options.rejected) arguments["rejected"] = true;
  return client.call(order, arguments);
}

void print_once(AdminClient& client, const ListKind& kind,
                const ListOptions& options, bool as_json) {
  const json answer = ask(client, kind.name, options);
  if (!as_json) {
    say("{}", text_of(answer, kind.columns));
    return;
  }
  // What reads the rows need not see the hint.
  say("{}\n", answer["rows"].dump());
  say(stderr, "{}", rest_of(answer));
}

void print_again_and_again(AdminClient& client, const ListKind& kind,
                           const ListOptions& options, bool as_json) {
  WatchedList list;
  list.seconds = *options.watch;
  list.as_json = as_json;
  list.text = [&](const json& answer) { return text_of(answer, kind.columns); };
  list.ask = [&] {
    json answer = ask(client, kind.name, options);
    if (client.is_served()) return answer;
    throw Error(ErrorKind::usage,
                kind.name +
                    " --watch: no server runs, so nothing changes: "
                    "start it with `quorate serve`");
  };
  watch(list);
}

void add_list(CLI::App& app, GlobalOptions& global, const ListKind& kind) {
  auto options = std::make_shared<ListOptions>();
  CLI::App* command = app.add_subcommand(kind.name, kind.help);
  add_filters(command, kind, options);
  command
      ->add_option_function<std::string>(
          "--watch",
          [options](const std::string& text) {
            options->watch = seconds_between_looks(text);
          },
          "Show it again every so many seconds [2] until Ctrl-C; in a pipe, "
          "what is new or changed")
      ->expected(0, 1)
      ->type_name("SECONDS");
  command->add_flag("--json", global.json, "Machine-readable output");
  command->footer(
      fmt::format("Example:\n  quorate -C my-project {}\n", kind.example));
  command->callback([options, &kind, &global] {
    AdminClient client(global.folder);
    if (options->watch) {
      print_again_and_again(client, kind, *options, global.json);
    } else {
      print_once(client, kind, *options, global.json);
    }
  });
}

}  // namespace

void add_lists(CLI::App& app, GlobalOptions& global) {
  for (const ListKind& kind : list_kinds()) add_list(app, global, kind);
}

}  // namespace quorate

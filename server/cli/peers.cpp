// peers add|list|remove|allow|disallow: gossip with other projects' servers.
#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/text.h"
#include "server/cli/commands.h"
#include "server/cli/forward.h"
#include "server/cli/support/client.h"
#include "server/cli/support/table.h"

namespace quorate {
namespace {

using nlohmann::json;
using Arguments = std::shared_ptr<json>;

// What is said for people; else the answer itself.
using Print = void (*)(const json& answer);

CLI::App* add_order(CLI::App& peers, GlobalOptions& global,
                    const std::string& order, const std::string& help,
                    const std::string& example, const Arguments& arguments,
                    Print print) {
  CLI::App* command = peers.add_subcommand(order, help);
  command->add_flag("--json", global.json, "Machine-readable output");
  command->footer(
      fmt::format("Example:\n  quorate -C my-project peers {}{}{}\n", order,
                  example.empty() ? "" : " ", example));
  command->callback([order, arguments, print, &global] {
    const json answer =
        AdminClient(global.folder).call("peers-" + order, *arguments);
    if (global.json) {
      say("{}\n", answer.dump());
    } else {
      print(answer);
    }
  });
  return command;
}

std::string text_of(const json& row, const char* key) {
  return row.at(key).get<std::string>();
}

void say_added(const json& row) {
  say("Peer {}: run {} takes the model of run {} of {} every {} s, weight {}.\n"
      "The operator of the other project has to type:\n"
      "  quorate peers allow {}\n",
      row["id"].dump(), text_of(row, "run"), text_of(row, "peer_run"),
      text_of(row, "url"), row["every"].dump(), row["weight"].dump(),
      text_of(row, "own_project"));
}

void say_list(const json& answer) {
  say("This project takes models from:\n{}",
      table(answer["peers"], {{"ID", "id"},
                              {"RUN", "run"},
                              {"PEER", "url"},
                              {"ITS RUN", "peer_run"},
                              {"WEIGHT", "weight"},
                              {"MIXED", "mixed"},
                              {"VERSION", "version"},
                              {"LAST", "last_seen"},
                              {"STATE", "state"}}));
  for (const json& row : answer["peers"]) {
    if (text_of(row, "problem").empty()) continue;
    say("Peer {}: {}\n", row["id"].dump(), text_of(row, "problem"));
  }
  say("\nProjects that may take models from here:\n{}",
      table(answer["allowed"],
            {{"PROJECT", "project"}, {"NAME", "name"}, {"SINCE", "since"}}));
  say("\nThis project is {}.\n", text_of(answer, "project"));
}

void say_removed(const json& row) {
  say("Peer {} is removed; what run {} has already taken from it stays in the "
      "model.\n",
      row["id"].dump(), text_of(row, "run"));
}

void say_allowed(const json& row) {
  say("Project {} may take models of this project's runs.\n",
      text_of(row, "project"));
}

void say_disallowed(const json& row) {
  say("Project {} may not take models any more.\n", text_of(row, "project"));
}

void add_add(CLI::App& peers, GlobalOptions& global) {
  auto arguments = std::make_shared<json>(json::object());
  CLI::App* add = add_order(
      peers, global, "add",
      "Mix the model of another project's run into one of yours at regular "
      "intervals. Both runs must train the same network and should have "
      "started with the same --seed",
      "first https://other.example:8470#5705b2c1a9e84f6d5705b2c1a9e84f6d",
      arguments, say_added);
  forward(add, arguments, "RUN", "run", "Your run")->required();
  forward(add, arguments, "URL#FINGERPRINT", "address",
          "The other project's address, as its volunteers type it")
      ->required();
  forward(add, arguments, "--run", "peer_run",
          "Name of its run [the same as yours]");
  forward_number(add, arguments, "--every", "every",
                 "Seconds between two looks at the peer [300]");
  forward_number(
      add, arguments, "--weight", "weight",
      "How far your model moves towards the peer's, above 0 and below 1 [0.5]");
}

void add_remove(CLI::App& peers, GlobalOptions& global) {
  auto arguments = std::make_shared<json>(json::object());
  CLI::App* remove =
      add_order(peers, global, "remove", "Take no more models from a peer", "1",
                arguments, say_removed);
  remove
      ->add_option_function<std::int64_t>(
          "ID", [arguments](std::int64_t id) { (*arguments)["peer"] = id; },
          "Its number in `peers list`")
      ->required();
}

}  // namespace

void add_peers(CLI::App& app, GlobalOptions& global) {
  CLI::App* peers = app.add_subcommand(
      "peers",
      "Exchange models with other projects that train the same network");
  peers->require_subcommand(1);
  peers->footer("Example:\n  quorate -C my-project peers list\n");
  add_add(*peers, global);
  add_order(*peers, global, "list",
            "List the peers, what was taken from each, and which projects may "
            "take models from here",
            "", std::make_shared<json>(json::object()), say_list);
  add_remove(*peers, global);
  constexpr const char* kSomebody = "5705b2c1a9e84f6d5705b2c1a9e84f6d";
  auto allowed = std::make_shared<json>(json::object());
  CLI::App* allow =
      add_order(*peers, global, "allow",
                "Let another project take the published models of your runs",
                kSomebody, allowed, say_allowed);
  forward(
      allow, allowed, "FINGERPRINT", "project",
      "Fingerprint of the other project, or its address with the fingerprint")
      ->required();
  forward(allow, allowed, "--name", "name", "What you call it");
  auto denied = std::make_shared<json>(json::object());
  CLI::App* disallow =
      add_order(*peers, global, "disallow", "Withdraw that permission",
                kSomebody, denied, say_disallowed);
  forward(disallow, denied, "FINGERPRINT", "project",
          "As `peers list` shows it")
      ->required();
}

}  // namespace quorate

#include "server/orders/service.h"

#include <functional>
#include <map>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <unistd.h>

#include "base/error.h"
#include "base/json_fields.h"
#include "protocol/text.h"
#include "server/making/evaluations.h"
#include "server/orders/by_hand.h"
#include "server/orders/host_orders.h"
#include "server/orders/ledger_rows.h"
#include "server/orders/lists.h"
#include "server/orders/order_book.h"
#include "server/orders/peer_orders.h"
#include "server/orders/remove_dataset.h"
#include "server/orders/result_orders.h"
#include "server/orders/runs/change_run.h"
#include "server/orders/runs/create_run.h"
#include "server/orders/runs/move_run.h"
#include "server/orders/unit_view.h"
#include "server/orders/user_orders.h"
#include "server/page/status.h"

namespace quorate {
namespace {

using nlohmann::json;

// The row of a run, with its settings.
json detailed_run(Project& project, const TrainingRun& training) {
  json row = status::run(project.state(), training);
  row["settings"] = status::settings(training.run);
  return row;
}

json create(Project& project, const json& arguments) {
  TrainingRun& training =
      create_run(project.state(), project.daemons(), arguments);
  return detailed_run(project, training);
}

// For what changes a run.
TrainingRun& loaded_run_of(Project& project, const json& arguments) {
  TrainingRun& training = run_of(project, arguments);
  if (training.is_active() && !training.is_loaded) {
    throw Error(ErrorKind::usage, fmt::format("run {}: {}", training.run.name,
                                              training.run.state_reason));
  }
  return training;
}

json move(Project& project, const json& arguments, RunState from, RunState to) {
  TrainingRun& training = loaded_run_of(project, arguments);
  move_run(project.state(), project.daemons(), training, from, to);
  return detailed_run(project, training);
}

json change(Project& project, const json& arguments) {
  TrainingRun& training = loaded_run_of(project, arguments);
  change_run(project.state(), project.daemons(), training, arguments);
  return detailed_run(project, training);
}

json stop(Project& project, const json& arguments) {
  TrainingRun& training = loaded_run_of(project, arguments);
  if (!training.is_active()) {
    throw Error(ErrorKind::usage,
                fmt::format("run {} is {} already", training.run.name,
                            name_of(training.run.state)));
  }
  project.daemons().assimilator.end(training, RunState::stopped);
  return detailed_run(project, training);
}

json list_runs(Project& project, const json&) {
  json rows = json::array();
  for (const auto& [key, training] : project.state().runs) {
    rows.push_back(status::run(project.state(), training));
  }
  return rows;
}

// What `export` needs to know of a version.
json exportable(Project& project, const json& arguments) {
  const TrainingRun& training = run_of(project, arguments);
  std::vector<Evaluation> all =
      project.state().store.evaluations(training.run.key);
  std::string wanted = arguments.value("version", "best");
  std::optional<Evaluation> chosen;
  if (wanted == "best") {
    chosen = best_of(all);
  } else if (wanted == "last" && !all.empty()) {
    chosen = all.back();
  }
  for (const Evaluation& evaluation : all) {
    if (std::to_string(evaluation.version) == wanted) chosen = evaluation;
  }
  if (!chosen) {
    std::string known;
    for (const Evaluation& evaluation : all) {
      known += fmt::format(" {}", evaluation.version);
    }
    throw Error(
        ErrorKind::usage,
        fmt::format(
            "export {}: version {} is not published and evaluated: known are{}",
            training.run.name, wanted, known.empty() ? " none yet" : known));
  }
  LedgerRecord head =
      project.state().store.last_record(training.run.key).value();
  return {{"version", chosen->version},
          {"accuracy", chosen->accuracy},
          {"loss", chosen->loss},
          {"object", chosen->published.hex()},
          {"model", json::parse(to_json(training.run.model))},
          {"dataset", training.run.dataset},
          {"run", training.run.name},
          {"run_id", training.run.id.hex()},
          {"ledger_head", head.hash.hex()}};
}

// For orders that need the project's memory alone.
template <auto kOrder>
json on_memory(Project& project, const json& arguments) {
  return kOrder(project.state(), project.daemons(), arguments);
}

template <auto kQuestion>
json on_state(Project& project, const json& arguments) {
  return kQuestion(project.state(), arguments);
}

using Command = std::function<json(Project&, const json&)>;

const std::map<std::string, Command>& commands() {
  static const std::map<std::string, Command> kTable = {
      {"train-create", create},
      {"train-list", list_runs},
      {"train-show",
       [](Project& p, const json& a) { return detailed_run(p, run_of(p, a)); }},
      {"train-pause",
       [](Project& p, const json& a) {
         return move(p, a, RunState::running, RunState::paused);
       }},
      {"train-resume",
       [](Project& p, const json& a) {
         return move(p, a, RunState::paused, RunState::running);
       }},
      {"train-change", change},
      {"train-stop", stop},
      {"status",
       [](Project& p, const json&) {
         json summary = status::summary(p.state());
         summary["peer_problems"] = peer_problems(p);
         return summary;
       }},
      {"hosts",
       [](Project& p, const json&) { return status::hosts(p.state()); }},
      {"host-show", show_host},
      {"host-trust", trust_host},
      {"host-ban", ban_host},
      {"host-pardon", pardon_host},
      {"host-purge", purge_host},
      {"users", on_state<list_users>},
      {"user-show", on_state<show_user>},
      {"user-ban", on_memory<ban_user>},
      {"user-pardon", on_memory<pardon_user>},
      {"user-rename", on_state<rename_user>},
      {"user-delete", on_memory<delete_user>},
      {"workunits", on_state<list_workunits>},
      {"results", on_state<list_results>},
      {"snapshots", list_snapshots},
      {"result-accept", on_memory<accept_result>},
      {"result-reject", on_memory<reject_result>},
      {"result-revoke", on_memory<revoke_result>},
      {"workunit-cancel", on_memory<cancel_workunit>},
      {"workunit-reissue", on_memory<reissue_workunit>},
      {"workunit-replicate", on_memory<replicate_workunit>},
      {"log", list_orders},
      {"workunit-show", on_state<show_workunit>},
      {"validate", on_memory<validate_by_hand>},
      {"assimilate", on_memory<assimilate_by_hand>},
      {"ledger", list_ledger},
      {"host-find", find_host},
      {"exportable", exportable},
      {"dataset-remove", remove_dataset},
      {"peers-add", add_peer},
      {"peers-list", list_peers},
      {"peers-remove", remove_peer},
      {"peers-allow", allow_peer},
      {"peers-disallow", disallow_peer},
  };
  return kTable;
}

// By no socket but a local one do orders come.
Person who_asks(const Request& request) {
  if (request.local_user) return person_of(*request.local_user);
  throw Error(ErrorKind::denied,
              "admin: orders are taken from users of this machine alone");
}

// By hand means by hand: only what was asked for happens. And who looks at
// units, perhaps before deciding, changes nothing.
bool is_alone(const std::string& command) {
  return command == "validate" || command == "assimilate" ||
         command == "workunits" || command == "results" ||
         command == "workunit-show";
}

// Nothing is ever removed from the log, but an account's name may have to go.
json arguments_to_note(const std::string& command, json arguments,
                       const json& reply) {
  if (!command.starts_with("user-")) return arguments;
  arguments["user"] = reply.at("id");
  arguments.erase("name");
  return arguments;
}

// Hosts, people and logs are told them: a ban's, above all.
void expect_plain_reasons(const json& arguments) {
  for (const char* name : {"reason", "why"}) {
    const auto found = arguments.find(name);
    if (found == arguments.end() || !found->is_string()) continue;
    if (protocol::is_plain_text(found->get_ref<const std::string&>())) continue;
    throw Error(ErrorKind::usage,
                fmt::format("--{}: expected one line without control or "
                            "invisible characters: write it in plain words",
                            name));
  }
}

}  // namespace

json AdminService::carry_out(const std::string& name, const json& arguments,
                             const Person& who) {
  auto command = commands().find(name);
  if (command == commands().end()) {
    throw Error(ErrorKind::usage, "admin: unknown command " + name);
  }
  expect_plain_reasons(arguments);
  const std::int64_t before = last_event(project_.state());
  json reply;
  try {
    reply = command->second(project_, arguments);
  } catch (const json::exception& error) {
    throw Error(ErrorKind::usage,
                fmt::format("admin {}: {}", name, error.what()));
  }
  if (!only_asks(name, arguments)) {
    note_order(project_.state(), who, name,
               arguments_to_note(name, arguments, reply), reply, before);
  }
  if (!is_alone(name)) project_.daemons().settle();
  project_.state().hosts.flush();
  project_.state().trust.flush();
  return reply;
}

json AdminService::call(const std::string& name, const json& arguments,
                        const Person& who) {
  json reply;
  project_.writer().run([&] { reply = carry_out(name, arguments, who); });
  return reply;
}

void AdminService::post(const std::string& name, json arguments, Person who,
                        std::function<void(Response)> done) {
  project_.writer().post([this, name, arguments = std::move(arguments),
                          who = std::move(who), done = std::move(done)] {
    Response response;
    try {
      response = json_response(200, dump_json(carry_out(name, arguments, who)));
    } catch (const Error& error) {
      response = error_response(error.kind(), error.what());
    }
    project_.writer().after_commit(
        [done, response = std::move(response)]() mutable {
          done(std::move(response));
        });
  });
}

void AdminService::add_routes(Router& router) {
  constexpr std::uint64_t kMaxArguments = 64 << 10;
  router.add(
      Method::post, "/admin/{command}",
      [this](Request& request, Responder responder) {
        json arguments = json::parse(request.body, nullptr, false);
        if (!arguments.is_object()) {
          throw Error(ErrorKind::usage, "admin: expected a JSON object");
        }
        const std::string command(request.path_value("command"));
        const Person who = who_asks(request);
        expect_may_order(who, ::geteuid(), project_.state().settings,
                         only_asks(command, arguments));
        responder.send(
            json_response(200, call(command, arguments, who).dump()));
      },
      kMaxArguments);
}

}  // namespace quorate

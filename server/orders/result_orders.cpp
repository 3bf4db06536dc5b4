#include "server/orders/result_orders.h"

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "server/judging/consequences.h"
#include "server/judging/unit_facts.h"
#include "server/orders/named.h"
#include "server/units/decision_by_hand.h"

namespace quorate {
namespace {

using nlohmann::json;

// With what comes before it, what a ledger's entry has room for.
constexpr std::size_t kMostWhyBytes = 500;

[[noreturn]] void refuse_order(const std::string& why) {
  throw Error(ErrorKind::usage, why);
}

void expect_nothing_against(const std::string& objection) {
  if (!objection.empty()) refuse_order(objection);
}

// One line, for it is shown in tables and logs.
std::string why_of(const json& arguments) {
  const std::string why = arguments.value("why", "");
  const bool is_line = std::none_of(why.begin(), why.end(), [](char c) {
    return static_cast<unsigned char>(c) < 0x20 || c == 0x7f;
  });
  if (why.find_first_not_of(' ') != why.npos && is_line &&
      why.size() <= kMostWhyBytes) {
    return why;
  }
  refuse_order(
      fmt::format("--why: expected one line of 1 to {} bytes: say why, for "
                  "those who read it later",
                  kMostWhyBytes));
}

// A unit with what an order has to know of it.
struct OrderedUnit {
  Workunit unit;
  std::vector<Result> results;
  ByHandFacts facts;
  LiveUnit* live = nullptr;  // null: over
  RunKey run = 0;
};

// The units of a run that could not be loaded are not in memory.
void expect_loaded(const TrainingRun& training) {
  if (!training.is_active() || training.is_loaded) return;
  refuse_order(
      fmt::format("run {}: {}", training.run.name, training.run.state_reason));
}

OrderedUnit ordered_unit(ProjectState& state, WorkunitId id) {
  const Workunit unit = workunit_named(state, id);
  const TrainingRun& training = state.run(unit.run);
  expect_loaded(training);
  OrderedUnit ordered;
  ordered.unit = unit;
  ordered.run = unit.run;
  ordered.results = state.store.results_of({&id, 1});
  ordered.live = state.feeder.find(id);
  ordered.facts.run = training.run.name;
  ordered.facts.is_run_active = training.is_active();
  ordered.facts.is_late =
      ordered.live != nullptr && is_late(state, *ordered.live);
  ordered.facts.has_referee = state.has_referee();
  return ordered;
}

Result ordered_result(ProjectState& state, const json& arguments) {
  const auto id = arguments.at("result").get<ResultId>();
  if (std::optional<Result> result = state.store.result(id)) {
    return *result;
  }
  refuse_order(fmt::format("there is no result {}: see `quorate results`", id));
}

OrderedUnit ordered_unit(ProjectState& state, const json& arguments) {
  return ordered_unit(state, arguments.at("workunit").get<WorkunitId>());
}

void take_effect(Daemons& daemons) {
  daemons.transitioner.settle();
  daemons.scheduler.wake();
}

// As the store has it now. result: 0 if the order is about none.
json row_after(ProjectState& state, const char* order, WorkunitId id,
               ResultId about, const std::string& next) {
  const Workunit unit = state.store.workunit(id).value();
  json row = {{"order", order},    {"run", state.run(unit.run).run.name},
              {"workunit", id},    {"workunit_state", name_of(unit.state)},
              {"result", nullptr}, {"result_state", nullptr},
              {"next", next}};
  if (about != 0) {
    row["result"] = about;
    row["result_state"] =
        name_of(state.store.result(about).value().validate_state);
  }
  return row;
}

std::size_t outstanding(ProjectState& state, WorkunitId id) {
  const std::vector<Result> results = state.store.results_of({&id, 1});
  return static_cast<std::size_t>(
      std::count_if(results.begin(), results.end(), [](const Result& result) {
        return result.server_state != ServerState::over;
      }));
}

std::string is_out(ProjectState& state, WorkunitId id) {
  const std::size_t count = outstanding(state, id);
  if (count == 0) {
    return fmt::format("no result of workunit {} is out", id);
  }
  return fmt::format("{} result{} of workunit {} {} out or wait for a host",
                     count, count == 1 ? "" : "s", id,
                     count == 1 ? "is" : "are");
}

// It is in the model, or will be once its round is full; or it came too late.
json accept_unverified(ProjectState& state, Daemons& daemons,
                       const OrderedUnit& about, const Result& result,
                       const std::string& why) {
  expect_nothing_against(against_accepting_unverified(
      result, about.unit, about.results, about.facts));
  daemons.transitioner.accept_unverified(result.id);
  state.record("accepted_unverified", about.run, result.host,
               fmt::format("result {} of unit {}, by the operator: {}",
                           result.id, about.unit.unit_index, why));
  take_effect(daemons);
  const bool is_merged =
      state.store.workunit(about.unit.id)->state != WorkunitState::credited;
  return row_after(
      state, "accept", about.unit.id, result.id,
      is_merged
          ? fmt::format("its ledger entry says unverified, and so does every "
                        "model with it: `quorate result revoke {}` takes it "
                        "out",
                        result.id)
          : "its round has closed without it: it has credit, and is not "
            "merged");
}

}  // namespace

json reject_result(ProjectState& state, Daemons& daemons,
                   const json& arguments) {
  const std::string why = why_of(arguments);
  const Result result = ordered_result(state, arguments);
  const OrderedUnit about = ordered_unit(state, result.workunit);
  expect_nothing_against(against_rejecting(result, about.unit, about.facts));
  daemons.transitioner.reject(result.id, "rejected by the operator: " + why);
  take_effect(daemons);
  return row_after(state, "reject", about.unit.id, result.id,
                   is_out(state, about.unit.id));
}

json accept_result(ProjectState& state, Daemons& daemons,
                   const json& arguments) {
  const std::string why = why_of(arguments);
  const Result result = ordered_result(state, arguments);
  const OrderedUnit about = ordered_unit(state, result.workunit);
  if (arguments.value("unverified", false)) {
    return accept_unverified(state, daemons, about, result, why);
  }
  expect_nothing_against(
      against_accepting(result, about.unit, about.results, about.facts));
  daemons.transitioner.ask_for_check(about.unit.id);
  state.record("check_ordered", about.run, result.host,
               fmt::format("result {} of unit {}, by the operator: {}",
                           result.id, about.unit.unit_index, why));
  take_effect(daemons);
  return row_after(
      state, "accept", about.unit.id, result.id,
      fmt::format("a house worker computes workunit {}: result {} is valid if "
                  "it agrees, and false if not",
                  about.unit.id, result.id));
}

json revoke_result(ProjectState& state, Daemons& daemons,
                   const json& arguments) {
  const std::string why = why_of(arguments);
  const Result result = ordered_result(state, arguments);
  const OrderedUnit about = ordered_unit(state, result.workunit);
  expect_nothing_against(against_revoking(result, about.unit, about.facts));
  Consequences(state).revoke(about.unit, std::string(kRevokedByOperator) + why);
  take_effect(daemons);
  return row_after(
      state, "revoke", about.unit.id, result.id,
      fmt::format("the model of run {} is being rebuilt without it{}",
                  about.facts.run,
                  state.is_served ? ": see `quorate status`"
                                  : ", once the server runs: `quorate serve`"));
}

std::string warning_of(const std::string& command, const json& arguments) {
  if (command == "result-revoke") {
    return "A revoked result never comes back into the model, and the ledger "
           "says for ever that it was revoked.";
  }
  if (command == "workunit-cancel") {
    return "A cancelled workunit is over: its samples are left out of this "
           "epoch.";
  }
  const auto unverified = arguments.find("unverified");
  if (command == "result-accept" && unverified != arguments.end() &&
      *unverified == true) {
    return "Nobody computes the workunit: whether the result is true stays "
           "unknown, and the ledger and every model with it say so until it is "
           "revoked.";
  }
  return "";
}

json cancel_workunit(ProjectState& state, Daemons& daemons,
                     const json& arguments) {
  const std::string why = why_of(arguments);
  const OrderedUnit about = ordered_unit(state, arguments);
  expect_nothing_against(against_cancelling(about.unit, about.facts));
  daemons.transitioner.close(about.unit.id, Closing::by_operator);
  state.record(
      "unit_cancelled", about.run, 0,
      fmt::format("unit {}, by the operator: {}", about.unit.unit_index, why));
  take_effect(daemons);
  const json row = row_after(state, "cancel", about.unit.id, 0, "");
  const bool goes_on = row["workunit_state"] == "open";
  return row_after(
      state, "cancel", about.unit.id, 0,
      goes_on ? "its results disagree: it goes on until it is known whose are "
                "false, and nothing of it is merged"
              : fmt::format("its {} samples are left out of this epoch",
                            about.unit.samples));
}

json reissue_workunit(ProjectState& state, Daemons& daemons,
                      const json& arguments) {
  const std::string why = why_of(arguments);
  const OrderedUnit about = ordered_unit(state, arguments);
  expect_nothing_against(against_reissuing(about.unit, about.facts));
  const std::uint32_t given_up = daemons.transitioner.reissue(
      about.unit.id, "given up by the operator: " + why);
  state.record(
      "unit_reissued", about.run, 0,
      fmt::format("unit {}, by the operator: {}; {} results were given up",
                  about.unit.unit_index, why, given_up));
  take_effect(daemons);
  json row = row_after(state, "reissue", about.unit.id, 0,
                       is_out(state, about.unit.id));
  row["given_up"] = given_up;
  return row;
}

json replicate_workunit(ProjectState& state, Daemons& daemons,
                        const json& arguments) {
  const std::string why = why_of(arguments);
  const OrderedUnit about = ordered_unit(state, arguments);
  const auto more = arguments.value("results", std::uint32_t{1});
  expect_nothing_against(
      against_replicating(about.unit, about.results, more, about.facts));
  daemons.transitioner.replicate(about.unit.id, more);
  state.record("unit_replicated", about.run, 0,
               fmt::format("unit {}, by the operator: {}; {} more",
                           about.unit.unit_index, why, more));
  take_effect(daemons);
  json row = row_after(state, "replicate", about.unit.id, 0,
                       is_out(state, about.unit.id));
  row["results"] = more;
  return row;
}

}  // namespace quorate

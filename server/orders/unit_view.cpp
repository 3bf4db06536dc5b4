#include "server/orders/unit_view.h"

#include <algorithm>
#include <bit>
#include <map>
#include <set>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "server/judging/foresight.h"
#include "server/judging/unit_facts.h"
#include "server/merging/ready_units.h"
#include "server/orders/named.h"
#include "server/page/status.h"
#include "server/units/sealed_tasks.h"
#include "server/units/states.h"
#include "validator/quorum.h"
#include "workunits/claim_difference.h"

namespace quorate {
namespace {

using nlohmann::json;

std::optional<ResultHeader> header_of(const Result& result) {
  if (result.header.bytes.empty()) return std::nullopt;
  try {
    return decode_result_header(result.header.bytes);
  } catch (const Error&) {
    return std::nullopt;
  }
}

json task_row(const LiveUnit& live) {
  if (live.task == nullptr) return nullptr;
  const TrainingTask& task = *live.task;
  const SampleRange& range = task.range;
  return {{"shard_index", range.shard_index},
          {"first_sample", range.first},
          {"last_sample", range.first + range.samples() - 1},
          {"steps", range.steps},
          {"batch", range.batch},
          {"epoch", range.epoch},
          {"codec", name_of(task.codec)},
          {"learning_rate", task.optimizer.learning_rate},
          {"digest_every", task.digest_every},
          {"replica", task.replica ? json(*task.replica) : json(nullptr)}};
}

std::string voucher_of(const ProjectState& state, const Result& result) {
  if (result.user == kHouseUser) return "house worker";
  const bool is_judged = result.validate_state == ValidateState::valid ||
                         result.validate_state == ValidateState::invalid;
  const bool is_anchor =
      is_judged ? result.was_anchor : state.is_of_anchor(result);
  return is_anchor ? "proven host" : "volunteer";
}

json result_row(ProjectState& state, const LiveUnit& live,
                const Result& result) {
  json row = status::result(state, result);
  row["canonical"] = result.id == live.unit.canonical_result;
  const Host* host = state.hosts.host(result.host);
  row["door"] = host == nullptr ? json(nullptr) : json(host->door);
  row["as"] =
      result.host == 0 ? json(nullptr) : json(voucher_of(state, result));
  row["device"] = nullptr;
  const std::optional<ResultHeader> header = header_of(result);
  if (!header) return row;
  const Claim& claim = header->claim;
  row["device"] = header->device;
  row["arithmetic"] = header->arithmetic;
  row["claim"] = result.claim.hex();
  row["update"] = claim.update.hex();
  row["digests"] = json::array();
  for (const Hash& digest : claim.digests) {
    row["digests"].push_back(digest.hex());
  }
  row["samples"] = claim.samples;
  row["loss"] = std::bit_cast<float>(claim.loss_bits);
  row["diverged_step"] = claim.diverged_step;
  return row;
}

// Results that make a claim, with it: reported, and let through by screening.
struct Claimant {
  const Result* result = nullptr;
  Claim claim;
};

std::vector<Claimant> claimants_of(const LiveUnit& live) {
  std::vector<Claimant> all;
  for (const Result& result : live.results) {
    if (result.outcome != ResultOutcome::success) continue;
    if (const auto header = header_of(result)) {
      all.push_back({&result, header->claim});
    }
  }
  return all;
}

// The users behind each claim.
std::map<Hash, std::set<UserId>> camps_of(const std::vector<Claimant>& all) {
  std::map<Hash, std::set<UserId>> camps;
  for (const Claimant& one : all) {
    camps[one.result->claim].insert(one.result->user);
  }
  return camps;
}

// What the others are compared with: the canonical result, else the first one
// of the most users' claim.
const Claimant* reference_of(const LiveUnit& live,
                             const std::vector<Claimant>& all) {
  const auto camps = camps_of(all);
  const Claimant* found = nullptr;
  for (const Claimant& one : all) {
    if (one.result->id == live.unit.canonical_result) return &one;
    if (found == nullptr || camps.at(one.result->claim).size() >
                                camps.at(found->result->claim).size()) {
      found = &one;
    }
  }
  return found;
}

// What of a claim differs after states that all agree.
std::string other_part(const Claim& a, const Claim& b) {
  if (a.outcome != b.outcome) return "outcome";
  if (a.digests.size() != b.digests.size()) return "number of digests";
  if (a.update != b.update) return "update";
  return a.loss_bits != b.loss_bits ? "loss" : "samples";
}

json difference_row(const LiveUnit& live, const Claimant& one,
                    const Claimant& reference, std::uint32_t digest) {
  json row = {{"result", one.result->id},
              {"other", reference.result->id},
              {"digest", nullptr},
              {"first_step", nullptr},
              {"last_step", nullptr}};
  const std::size_t shared =
      std::min(one.claim.digests.size(), reference.claim.digests.size());
  row["part"] =
      digest < shared ? "state" : other_part(one.claim, reference.claim);
  const bool goes_on =
      one.claim.digests.size() != reference.claim.digests.size();
  if (live.task == nullptr || (digest >= shared && !goes_on)) return row;
  const Stretch stretch = stretch_of(digest, *live.task);
  row["digest"] = digest + 1;
  row["first_step"] = stretch.first_step;
  row["last_step"] = stretch.last_step;
  return row;
}

json differences_of(const LiveUnit& live) {
  json rows = json::array();
  const std::vector<Claimant> all = claimants_of(live);
  const Claimant* reference = reference_of(live, all);
  for (const Claimant& one : all) {
    if (const auto digest = difference(one.claim, reference->claim)) {
      rows.push_back(difference_row(live, one, *reference, *digest));
    }
  }
  return rows;
}

json quorum_row(const ProjectState& state, const LiveUnit& live) {
  const std::vector<Claimant> all = claimants_of(live);
  const Claimant* reference = reference_of(live, all);
  const QuorumRule rule = quorum_rule(live.unit, facts_of(state, live));
  json vouchers = json::array();
  std::set<UserId> users;
  for (const Claimant& one : all) {
    if (one.result->claim != reference->result->claim) continue;
    users.insert(one.result->user);
    vouchers.push_back(
        {{"result", one.result->id}, {"as", voucher_of(state, *one.result)}});
  }
  const bool is_decided = live.unit.canonical_result != 0;
  return {{"needed", rule.min_quorum},
          {"needs_anchor", rule.needs_anchor},
          {"reached", users.size()},
          {"claims", camps_of(all).size()},
          {"vouchers", std::move(vouchers)},
          {"basis", is_decided ? json(basis_of(live.unit, live.results))
                               : json(nullptr)}};
}

json ledger_row(ProjectState& state, const Workunit& unit) {
  if (unit.canonical_result == 0) return nullptr;
  const auto record = state.store.ledger_record_of(unit.canonical_result);
  if (!record) return nullptr;
  const auto entry =
      std::get<ResultAssimilated>(parse_entry(record->line).body);
  json coefficients = json::object();
  for (const auto& [name, value] : entry.coefficients) {
    coefficients[name] = value;
  }
  return {{"entry", record->seq},
          {"hash", record->hash.hex()},
          {"version_before", entry.version_before},
          {"version_after", entry.version_after},
          {"staleness", entry.staleness},
          {"rule", entry.rule},
          {"coefficients", std::move(coefficients)},
          {"basis", entry.basis}};
}

json timeline_of(ProjectState& state, const LiveUnit& live) {
  json moments = json::array();
  auto add = [&](Millis time, const std::string& what) {
    if (time != 0) moments.push_back({{"time", time}, {"what", what}});
  };
  const Workunit& unit = live.unit;
  add(unit.created, "made");
  for (const Result& result : live.results) {
    const Host* host = state.hosts.host(result.host);
    if (host == nullptr) continue;
    add(result.sent, fmt::format("result {} sent to {} {}", result.id, host->id,
                                 host->name));
    add(result.received, fmt::format("result {} reported and {}", result.id,
                                     result.outcome == ResultOutcome::success
                                         ? "screened"
                                         : "refused by screening"));
  }
  if (unit.state != WorkunitState::open) {
    add(unit.judged,
        unit.canonical_result == 0
            ? fmt::format("closed without a verdict: {}", name_of(unit.state))
            : fmt::format("judged: result {} is canonical",
                          unit.canonical_result));
  }
  if (unit.closed != unit.judged) {
    add(unit.closed, std::string(name_of(unit.state)));
  }
  add(unit.checked, fmt::format("check: {}", name_of(unit.check)));
  std::stable_sort(moments.begin(), moments.end(),
                   [](const json& a, const json& b) {
                     return a["time"].get<Millis>() < b["time"].get<Millis>();
                   });
  return moments;
}

std::string why_valid(const LiveUnit& live) {
  const std::string_view basis = basis_of(live.unit, live.results);
  if (basis == kUnverified) {
    return "the operator accepted it, and nobody recomputed it";
  }
  if (basis == "house") return "a house worker computed it, too";
  if (basis == "proven") return "a proven host's word was enough";
  return "the users of a quorum agree";
}

std::string why_state(const LiveUnit& live) {
  const Instances now = count_instances(live.results);
  switch (live.unit.state) {
    case WorkunitState::open:
      return "no verdict so far";
    case WorkunitState::validated:
    case WorkunitState::assimilated:
      return why_valid(live);
    case WorkunitState::credited:
      return why_valid(live) + ", but too late for its round";
    case WorkunitState::cancelled:
      return "its round closed without it, the model went on without its "
             "branch, its run ended, or a host's work was taken back";
    case WorkunitState::diverged:
      return why_valid(live) + ": the training diverged";
    case WorkunitState::failed:
      return fmt::format("{} errors and {} results in all without agreement",
                         now.errors, now.total());
  }
  return "";
}

std::string why_check(UnitCheck check) {
  switch (check) {
    case UnitCheck::none:
      return "not checked";
    case UnitCheck::spot:
      return "drawn for a spot check";
    case UnitCheck::recheck:
      return "to be computed again: other work of one of its hosts was false";
    case UnitCheck::sound:
      return "a house worker has the same claim";
    case UnitCheck::unsound:
      return "false: its update is to be revoked";
    case UnitCheck::revoked:
      return "false: its update is out of the model";
  }
  return "";
}

std::string next_of(ProjectState& state, const LiveUnit& live) {
  const TrainingRun& training = state.run(live.unit.run);
  if (live.unit.check == UnitCheck::recheck) {
    return "The server computes it again from the ledger.";
  }
  if (live.unit.check == UnitCheck::unsound) {
    return "The model is rebuilt without its update.";
  }
  if (state.feeder.find(live.unit.id) == nullptr) {
    return is_final(live.unit.state) ? "Nothing: it is over."
                                     : fmt::format("Its run is not loaded: {}",
                                                   training.run.state_reason);
  }
  std::string text = sentence_of(foresee(state, live), live);
  if (live.unit.state == WorkunitState::validated) {
    const std::string why = why_nothing_is_ready(state, training);
    if (!why.empty()) text += fmt::format(" Not yet: {}.", why);
  }
  return text;
}

Workunit wanted_unit(ProjectState& state, const json& arguments) {
  if (!arguments.contains("result")) {
    return workunit_named(state, arguments.at("workunit").get<WorkunitId>());
  }
  const auto id = arguments["result"].get<ResultId>();
  if (const auto result = state.store.result(id)) {
    return state.store.workunit(result->workunit).value();
  }
  throw Error(ErrorKind::usage,
              fmt::format("there is no result {}: see `quorate results`", id));
}

}  // namespace

LiveUnit unit_at_hand(ProjectState& state, const Workunit& unit) {
  if (const LiveUnit* live = state.feeder.find(unit.id)) return *live;
  LiveUnit found;
  found.unit = unit;
  found.results = state.store.results_of({&unit.id, 1});
  try {
    found.task = std::make_shared<const TrainingTask>(
        task_of(state.store, state.objects, unit.object));
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::corrupt) throw;
  }
  return found;
}

json show_workunit(ProjectState& state, const json& arguments) {
  const LiveUnit live = unit_at_hand(state, wanted_unit(state, arguments));
  const Workunit& unit = live.unit;
  json row = status::workunit(state, unit);
  row["why"] = why_state(live);
  row["why_check"] = why_check(unit.check);
  row["late"] = unit.is_late;
  row["snapshot"] = unit.snapshot.hex();
  row["shard"] = unit.shard.hex();
  row["task"] = task_row(live);
  row["judged"] = unit.judged;
  row["closed"] = unit.closed;
  row["checked"] = unit.checked;
  row["results"] = json::array();
  for (const Result& result : live.results) {
    row["results"].push_back(result_row(state, live, result));
  }
  row["differences"] = differences_of(live);
  row["quorum"] = quorum_row(state, live);
  row["ledger"] = ledger_row(state, unit);
  row["timeline"] = timeline_of(state, live);
  row["next"] = next_of(state, live);
  return row;
}

}  // namespace quorate

#include "server/units/decision_by_hand.h"

#include <fmt/format.h>

#include "server/units/decision.h"
#include "server/units/states.h"
#include "validator/replication.h"

namespace quorate {
namespace {

// In the words of `quorate results`.
std::string state_of(const Result& result) {
  if (result.validate_state != ValidateState::init) {
    return fmt::format(
        "{}{}", name_of(result.validate_state),
        result.reason.empty() ? "" : ", \"" + result.reason + "\"");
  }
  return std::string(result.server_state == ServerState::over
                         ? name_of(result.outcome)
                         : name_of(result.server_state));
}

bool is_reported(const Result& result) {
  return result.outcome == ResultOutcome::success &&
         result.validate_state != ValidateState::invalid;
}

std::string against_not_reported(const Result& result) {
  if (is_reported(result)) return "";
  if (result.server_state != ServerState::over) {
    return fmt::format(
        "result {} is {}: nothing of it is reported; to give it "
        "up: `quorate workunit reissue {}`",
        result.id, name_of(result.server_state), result.workunit);
  }
  return fmt::format("result {} is {}: it counts for nothing as it is",
                     result.id, state_of(result));
}

// Its ledger is closed: nothing can be taken out of the run's model.
std::string ended(ResultId result, const ByHandFacts& facts) {
  return fmt::format(
      "result {}: run {} has ended, and its ledger with it; what its model "
      "would be without it: `quorate replay {} --without-result {}`",
      result, facts.run, facts.run, result);
}

std::string against_closed(const Workunit& unit, const ByHandFacts& facts) {
  switch (unit.state) {
    case WorkunitState::open:
      return "";
    case WorkunitState::validated:
      return fmt::format(
          "workunit {} is validated: result {} stands for it and is merged "
          "next; if that is wrong: `quorate result reject {}`",
          unit.id, unit.canonical_result, unit.canonical_result);
    case WorkunitState::assimilated:
      if (!facts.is_run_active) return ended(unit.canonical_result, facts);
      return fmt::format(
          "workunit {} is in the model by result {}; to take it out: `quorate "
          "result revoke {}`",
          unit.id, unit.canonical_result, unit.canonical_result);
    case WorkunitState::credited:
    case WorkunitState::cancelled:
    case WorkunitState::diverged:
    case WorkunitState::failed:
      return fmt::format(
          "workunit {} is {}: it is over, and nothing of it is in the model",
          unit.id, name_of(unit.state));
  }
  return "";
}

std::string against_deciding(const Result& result, const Workunit& unit,
                             const ByHandFacts& facts) {
  if (result.validate_state == ValidateState::valid) {
    return fmt::format("result {} is valid already", result.id);
  }
  if (std::string why = against_not_reported(result); !why.empty()) return why;
  return against_closed(unit, facts);
}

std::string against_late(const Workunit& unit, const ByHandFacts& facts) {
  if (!facts.is_late) return "";
  return fmt::format(
      "workunit {} is late: the model went on without it, so nothing more of "
      "it is sent",
      unit.id);
}

}  // namespace

std::string against_rejecting(const Result& result, const Workunit& unit,
                              const ByHandFacts& facts) {
  if (std::string why = against_not_reported(result); !why.empty()) return why;
  if (unit.state != WorkunitState::open &&
      unit.state != WorkunitState::validated) {
    return against_closed(unit, facts);
  }
  if (result.user != kHouseUser) return "";
  return fmt::format(
      "result {} is a house worker's: this server computed it itself, and "
      "would again; to go on without the unit: `quorate workunit cancel {}`",
      result.id, unit.id);
}

std::string against_accepting(const Result& result, const Workunit& unit,
                              std::span<const Result> results,
                              const ByHandFacts& facts) {
  if (std::string why = against_deciding(result, unit, facts); !why.empty()) {
    return why;
  }
  if (!facts.has_referee) {
    return fmt::format(
        "result {}: no house worker could check it: set house_workers in "
        "quorate.toml to 1 or more and start the server again, or have "
        "another volunteer compute it: `quorate workunit replicate {}`, or "
        "take it unchecked: --unverified",
        result.id, unit.id);
  }
  if (count_instances(results).house_errors < kMostHouseErrors) return "";
  return fmt::format(
      "result {}: house workers failed at workunit {} {} times: see `quorate "
      "results` for why",
      result.id, unit.id, kMostHouseErrors);
}

std::string against_accepting_unverified(const Result& result,
                                         const Workunit& unit,
                                         std::span<const Result> results,
                                         const ByHandFacts& facts) {
  if (std::string why = against_deciding(result, unit, facts); !why.empty()) {
    return why;
  }
  if (result.computed == ComputeOutcome::diverged) {
    return fmt::format(
        "result {}: it says that the training diverged: there is no update to "
        "take; to go on without the unit: `quorate workunit cancel {}`",
        result.id, unit.id);
  }
  bool has_payload = false;
  for (const Result& other : results) {
    if (!is_reported(other)) continue;
    if (other.claim != result.claim) {
      return fmt::format(
          "result {}: result {} of the same workunit claims something else: "
          "first reject one of them: `quorate result reject {}`",
          result.id, other.id, other.id);
    }
    has_payload |= other.validate_state == ValidateState::init;
  }
  if (has_payload) return "";
  return fmt::format(
      "result {}: its host sent a claim and no update: have another volunteer "
      "compute it: `quorate workunit replicate {}`",
      result.id, unit.id);
}

std::string against_revoking(const Result& result, const Workunit& unit,
                             const ByHandFacts& facts) {
  if (unit.state == WorkunitState::open ||
      unit.state == WorkunitState::validated) {
    return fmt::format(
        "result {} is not in the model, its workunit {} is {}: `quorate result "
        "reject {}`",
        result.id, unit.id, name_of(unit.state), result.id);
  }
  if (unit.state != WorkunitState::assimilated)
    return against_closed(unit, facts);
  if (unit.canonical_result != result.id) {
    return fmt::format(
        "result {}: result {} of the same workunit is in the model: `quorate "
        "result revoke {}`",
        result.id, unit.canonical_result, unit.canonical_result);
  }
  if (unit.check == UnitCheck::revoked) {
    return fmt::format("result {} was taken out of the model already",
                       result.id);
  }
  if (unit.check == UnitCheck::unsound) {
    return fmt::format("result {} is being taken out of the model already",
                       result.id);
  }
  return facts.is_run_active ? "" : ended(result.id, facts);
}

std::string against_cancelling(const Workunit& unit, const ByHandFacts& facts) {
  return unit.state == WorkunitState::validated ? ""
                                                : against_closed(unit, facts);
}

std::string against_reissuing(const Workunit& unit, const ByHandFacts& facts) {
  if (std::string why = against_closed(unit, facts); !why.empty()) return why;
  return against_late(unit, facts);
}

std::string against_replicating(const Workunit& unit,
                                std::span<const Result> results,
                                std::uint32_t more, const ByHandFacts& facts) {
  if (std::string why = against_closed(unit, facts); !why.empty()) return why;
  if (std::string why = against_late(unit, facts); !why.empty()) return why;
  if (more < 1 || more > kMostByHand) {
    return fmt::format("--results {}: expected 1 to {}", more, kMostByHand);
  }
  if (unit.check == UnitCheck::spot && facts.has_referee) {
    return fmt::format(
        "workunit {}: a house worker computes it, and that decides", unit.id);
  }
  const std::uint32_t made = count_instances(results).total();
  const std::uint32_t wanted = unit.target_results + more;
  if (made + more <= unit.max_total_results &&
      wanted <= unit.max_total_results) {
    return "";
  }
  return fmt::format(
      "workunit {}: {} results were made of the {} that it may have: "
      "`quorate workunit reissue {}` gives up those that are out",
      unit.id, made, unit.max_total_results, unit.id);
}

}  // namespace quorate

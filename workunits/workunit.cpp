#include "workunits/workunit.h"

namespace quorate {

std::string_view name_of(RunState state) {
  switch (state) {
    case RunState::running:
      return "running";
    case RunState::paused:
      return "paused";
    case RunState::finished:
      return "finished";
    case RunState::stopped:
      return "stopped";
  }
  return "unknown";
}

std::string_view name_of(Consistency consistency) {
  return consistency == Consistency::strong ? "strong" : "eventual";
}

std::optional<Consistency> consistency_called(std::string_view name) {
  for (Consistency known : {Consistency::strong, Consistency::eventual}) {
    if (name == name_of(known)) return known;
  }
  return std::nullopt;
}

std::string_view name_of(WorkunitState state) {
  switch (state) {
    case WorkunitState::open:
      return "open";
    case WorkunitState::validated:
      return "validated";
    case WorkunitState::assimilated:
      return "assimilated";
    case WorkunitState::credited:
      return "credited";
    case WorkunitState::cancelled:
      return "cancelled";
    case WorkunitState::diverged:
      return "diverged";
    case WorkunitState::failed:
      return "failed";
  }
  return "unknown";
}

std::string_view name_of(ServerState state) {
  switch (state) {
    case ServerState::unsent:
      return "unsent";
    case ServerState::in_progress:
      return "in_progress";
    case ServerState::over:
      return "over";
  }
  return "unknown";
}

std::string_view name_of(ResultOutcome outcome) {
  switch (outcome) {
    case ResultOutcome::init:
      return "init";
    case ResultOutcome::success:
      return "success";
    case ResultOutcome::client_error:
      return "client_error";
    case ResultOutcome::no_reply:
      return "no_reply";
    case ResultOutcome::didnt_need:
      return "didnt_need";
    case ResultOutcome::validate_error:
      return "validate_error";
  }
  return "unknown";
}

std::string_view name_of(ValidateState state) {
  switch (state) {
    case ValidateState::init:
      return "init";
    case ValidateState::valid:
      return "valid";
    case ValidateState::invalid:
      return "invalid";
    case ValidateState::error:
      return "error";
    case ValidateState::inconclusive:
      return "inconclusive";
    case ValidateState::too_late:
      return "too_late";
  }
  return "unknown";
}

std::string_view name_of(UnitCheck check) {
  switch (check) {
    case UnitCheck::none:
      return "none";
    case UnitCheck::spot:
      return "spot";
    case UnitCheck::recheck:
      return "recheck";
    case UnitCheck::sound:
      return "sound";
    case UnitCheck::unsound:
      return "unsound";
    case UnitCheck::revoked:
      return "revoked";
  }
  return "unknown";
}

}  // namespace quorate

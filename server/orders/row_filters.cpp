#include "server/orders/row_filters.h"

#include <span>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "server/orders/lists.h"
#include "server/orders/named.h"

namespace quorate {
namespace {

using nlohmann::json;

// A word for a state, and what it asks of a row.
template <class Filter>
struct StateWord {
  std::string word;
  void (*set)(Filter&);
};

const std::vector<StateWord<ResultFilter>>& result_states() {
  using F = ResultFilter;
  using S = ServerState;
  using O = ResultOutcome;
  using V = ValidateState;
  static const std::vector<StateWord<F>> kWords = {
      {"unsent", [](F& f) { f.server_state = S::unsent; }},
      {"in_progress", [](F& f) { f.server_state = S::in_progress; }},
      {"over", [](F& f) { f.server_state = S::over; }},
      {"waiting", [](F& f) { f.is_waiting = true; }},
      {"valid", [](F& f) { f.validate_state = V::valid; }},
      {"invalid", [](F& f) { f.validate_state = V::invalid; }},
      {"inconclusive", [](F& f) { f.validate_state = V::inconclusive; }},
      {"too_late", [](F& f) { f.validate_state = V::too_late; }},
      {"success", [](F& f) { f.outcome = O::success; }},
      {"client_error", [](F& f) { f.outcome = O::client_error; }},
      {"no_reply", [](F& f) { f.outcome = O::no_reply; }},
      {"didnt_need", [](F& f) { f.outcome = O::didnt_need; }},
      {"validate_error", [](F& f) { f.outcome = O::validate_error; }}};
  return kWords;
}

const std::vector<StateWord<WorkunitFilter>>& workunit_states() {
  using F = WorkunitFilter;
  using S = WorkunitState;
  using C = UnitCheck;
  static const std::vector<StateWord<F>> kWords = {
      {"open", [](F& f) { f.state = S::open; }},
      {"validated", [](F& f) { f.state = S::validated; }},
      {"assimilated", [](F& f) { f.state = S::assimilated; }},
      {"credited", [](F& f) { f.state = S::credited; }},
      {"cancelled", [](F& f) { f.state = S::cancelled; }},
      {"diverged", [](F& f) { f.state = S::diverged; }},
      {"failed", [](F& f) { f.state = S::failed; }},
      {"spot", [](F& f) { f.check = C::spot; }},
      {"recheck", [](F& f) { f.check = C::recheck; }},
      {"sound", [](F& f) { f.check = C::sound; }},
      {"unsound", [](F& f) { f.check = C::unsound; }},
      {"revoked", [](F& f) { f.check = C::revoked; }}};
  return kWords;
}

template <class Filter>
void set_state_word(Filter& filter, const std::string& wanted,
                    const std::vector<StateWord<Filter>>& words) {
  std::string all;
  for (const StateWord<Filter>& one : words) {
    if (one.word == wanted) return one.set(filter);
    all += (all.empty() ? "" : ", ") + one.word;
  }
  throw Error(
      ErrorKind::usage,
      fmt::format("state \"{}\": there is none: known are {}", wanted, all));
}

template <class Filter>
Filter filter_of(ProjectState& state, const json& arguments,
                 const std::vector<StateWord<Filter>>& words) {
  Filter filter;
  if (arguments.contains("run")) {
    filter.run = run_of(state, arguments).run.key;
  }
  if (arguments.contains("host")) {
    filter.host = host_named(state, arguments["host"]).id;
  }
  if (arguments.contains("user")) {
    filter.user = user_named(state, arguments["user"]).id;
  }
  if (arguments.contains("state")) {
    set_state_word(filter, arguments["state"], words);
  }
  if (arguments.contains("since")) {
    filter.since = since_text(arguments["since"], state.clock.unix_ms());
  }
  filter.device = arguments.value("device", "");
  return filter;
}

}  // namespace

ResultFilter result_filter(ProjectState& state, const json& arguments) {
  ResultFilter filter = filter_of(state, arguments, result_states());
  if (arguments.value("rejected", false)) {
    filter.validate_state = ValidateState::invalid;
  }
  return filter;
}

WorkunitFilter workunit_filter(ProjectState& state, const json& arguments) {
  return filter_of(state, arguments, workunit_states());
}

}  // namespace quorate

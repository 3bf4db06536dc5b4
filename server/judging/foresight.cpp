#include "server/judging/foresight.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "server/judging/unit_facts.h"
#include "server/units/states.h"

namespace quorate {
namespace {

// "1 host", "3 hosts".
std::string counted(std::size_t count, const std::string& one) {
  return fmt::format("{} {}{}", count, one, count == 1 ? "" : "s");
}

std::string results_named(const std::vector<ResultId>& ids) {
  return fmt::format("{} {}", ids.size() == 1 ? "result" : "results",
                     fmt::join(ids, ", "));
}

std::string what_it_waits_for(const LiveUnit& live) {
  const Instances now = count_instances(live.results);
  if (live.unit.state == WorkunitState::validated) {
    return "It waits to be assimilated.";
  }
  if (live.unit.state != WorkunitState::open) {
    return fmt::format(
        "It is over; {} may still report and will be judged by "
        "its verdict.",
        counted(now.in_progress, "host"));
  }
  if (now.outstanding() == 0) return "It waits.";
  std::string text = "It waits for ";
  if (now.in_progress > 0) {
    text += counted(now.in_progress, "host") + " at work on it";
  }
  if (now.unsent > 0) {
    text += fmt::format("{}{} to be taken by a host",
                        now.in_progress > 0 ? " and " : "",
                        counted(now.unsent, "result"));
  }
  return text + ".";
}

std::string what_is_accepted(const Foresight& foresight, const LiveUnit& live) {
  const QuorumDecision& quorum = foresight.decision.quorum;
  std::set<UserId> users;
  bool has_house = false;
  for (const Result& result : live.results) {
    if (std::find(quorum.valid.begin(), quorum.valid.end(), result.id) ==
        quorum.valid.end()) {
      continue;
    }
    users.insert(result.user);
    has_house |= result.user == kHouseUser;
  }
  std::string text = fmt::format(
      "Result {} becomes canonical: {} ({}{}) {} valid", quorum.canonical,
      results_named(quorum.valid), counted(users.size(), "user"),
      has_house ? ", a house worker among them" : "",
      quorum.valid.size() == 1 ? "is" : "agree and are");
  if (!quorum.invalid.empty()) {
    text += fmt::format("; {} {} another claim and {} invalid",
                        results_named(quorum.invalid),
                        quorum.invalid.size() == 1 ? "makes" : "make",
                        quorum.invalid.size() == 1 ? "is" : "are");
  }
  text += ".";
  if (foresight.may_be_checked) {
    text +=
        " Unless it is drawn for a spot check (trust_spot_check): then "
        "somebody else computes it first.";
  }
  return text;
}

std::string why_more(const UnitDecision& decision, const LiveUnit& live) {
  if (decision.quorum.is_disputed) return "results disagree";
  if (decision.quorum.wants_anchor) {
    return "a proven host or a house worker has to agree";
  }
  if (decision.quorum.missing > 0) {
    return fmt::format("{} that agree with one another are missing",
                       counted(decision.quorum.missing, "result"));
  }
  return fmt::format("{} are wanted",
                     counted(live.unit.target_results, "result"));
}

std::string what_is_replicated(const UnitDecision& decision,
                               const LiveUnit& live) {
  const std::string why = why_more(decision, live);
  if (decision.for_house) {
    return fmt::format("A house worker is asked to compute it: {}.", why);
  }
  return fmt::format("{} {} made for volunteers: {}.",
                     counted(decision.create, "more result"),
                     decision.create == 1 ? "is" : "are", why);
}

std::string what_is_judged(const LiveUnit& live) {
  const auto count = static_cast<std::size_t>(
      std::count_if(live.results.begin(), live.results.end(), may_count));
  return fmt::format("{} that came after the verdict {} judged by result {}.",
                     counted(count, "result"), count == 1 ? "is" : "are",
                     live.unit.canonical_result);
}

}  // namespace

Foresight foresee(const ProjectState& state, const LiveUnit& live) {
  Foresight foresight;
  UnitFacts facts = facts_of(state, live);
  const double share = state.trust.policy().spot_check;
  facts.draws_check = [&foresight, share] {
    foresight.may_be_checked = share > 0 && share < 1;
    return share >= 1;
  };
  foresight.decision = decide(live.unit, live.results, facts);
  return foresight;
}

std::string sentence_of(const Foresight& foresight, const LiveUnit& live) {
  const UnitDecision& decision = foresight.decision;
  switch (decision.step) {
    case UnitStep::wait:
      if (decision.quorum.decided()) {
        return "It waits for the first update of the run that a house worker "
               "confirms: others are compared with it.";
      }
      return what_it_waits_for(live);
    case UnitStep::replicate:
      return what_is_replicated(decision, live);
    case UnitStep::referee:
      return "A house worker computes it and decides: results disagree, a "
             "check of it was drawn, or volunteers say that it diverged.";
    case UnitStep::check:
      return "It is checked: somebody else computes it before the verdict, "
             "because no update of the run is confirmed yet, or this one is "
             "far larger than those that are, or it was drawn.";
    case UnitStep::accept:
      return what_is_accepted(foresight, live);
    case UnitStep::judge:
      return what_is_judged(live);
    case UnitStep::fail:
      return fmt::format("It fails: {}.", decision.reason);
    case UnitStep::cancel:
      return "It is cancelled: its round has closed without it, and nobody is "
             "at work on it.";
    case UnitStep::drop:
      return "Nothing: it is over.";
  }
  return "";
}

}  // namespace quorate

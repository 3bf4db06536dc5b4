// What follows for a host when its work proves false, and what the operator
// decides about it. Every decision is an event with its reason. Used by the
// writer's thread only. docs/validation.md.
#pragma once

#include <string>
#include <string_view>

#include "server/state/project_state.h"

namespace quorate {

// How the reason begins of a result that the operator has revoked; it also
// stands in the ledger.
inline constexpr std::string_view kRevokedByOperator =
    "revoked by the operator: ";

// The same of one that was taken out with all others of its host.
inline constexpr std::string_view kPurged = "purged by the operator: ";

// How the reason begins of a host that was banned with its account: what a
// pardon of the account finds it by.
inline constexpr std::string_view kAccountBanned = "its account is banned: ";

class Consequences {
 public:
  explicit Consequences(ProjectState& state) : state_(state) {}

  // A result of the host was false, on the word of somebody trusted: its trust
  // is gone, it is watched or banned, and what had been taken in on its word
  // alone is to be rechecked. what: the finding.
  void on_false(HostId host, RunKey run, const std::string& what);
  // Counts a validated result towards trust.
  void on_vouched(const Result& result);

  // The unit will not be in the model, so it need not be rechecked.
  void forget_recheck(TrainingRun& training, Workunit& unit);
  // A unit of which something is known that does not fit its result.
  void recheck(const Workunit& unit) { save_check(unit, UnitCheck::recheck); }
  // What a recheck found of a unit that is in the model. If it is sound, the
  // results that came later and disagreed were false. If it is false, all its
  // valid results were, and its update is to be revoked.
  void found_sound(const Workunit& unit);
  void found_false(const Workunit& unit, const std::string& what);
  // The operator has the unit's update taken out of the model, which is to be
  // done: its valid results are so no more. Their hosts bear no consequences.
  void revoke(const Workunit& unit, const std::string& reason);
  // A valid result's credit, and that it was valid, are taken off its host.
  void take_credit(Result& result);
  // Its update is out of the model.
  void revoked(const Workunit& unit);

  // The operator's decisions. pardon: begins anew as a new host.
  void trust(Host& host, const std::string& reason);
  void ban(Host& host, const std::string& reason);
  void pardon(Host& host, const std::string& reason);
  // Bans the account and each of its hosts; one that is banned on its own
  // account keeps its reason, so that pardon_user, which pardons the others,
  // leaves it banned.
  void ban_user(UserId user, const std::string& reason);
  void pardon_user(UserId user, const std::string& reason);
  // For good: its name and its machines' are removed from memory and the store,
  // its hosts are banned. Results, credit and ledger stay.
  void delete_user(UserId user);
  // Bans, and has every update of the host in a run that goes on revoked;
  // returns how many those are.
  std::size_t purge(Host& host, const std::string& reason);

 private:
  void set_mark(Host& host, HostMark mark, const std::string& reason,
                RunKey run);
  void recheck_work_of(HostId host);
  // Validated units wait for the end of a round: out of the model is easiest
  // before they are in.
  void cancel_validated(const TrainingRun& training, HostId host,
                        bool unchecked);
  void save_check(Workunit unit, UnitCheck check);
  void withdraw(Result result, const std::string& reason);
  void make_invalid(Result result, const std::string& reason);

  ProjectState& state_;
};

}  // namespace quorate

// Applies verdicts: marks results valid or invalid, grants credit, says why.
// Used by the writer's thread only.
#pragma once

#include "server/judging/consequences.h"
#include "server/state/project_state.h"
#include "validator/quorum.h"

namespace quorate {

class Verdicts {
 public:
  explicit Verdicts(ProjectState& state)
      : state_(state), consequences_(state) {}

  // A quorum was reached: the unit gets its canonical result and its next
  // state, every judged result its mark.
  void apply(LiveUnit& live, const QuorumDecision& decision);
  // A result that arrived after the verdict is judged by the canonical result.
  // If the two disagree and no house worker vouched for the canonical one, the
  // unit is rechecked, and the host whose result was false bears the
  // consequences.
  void judge_late(LiveUnit& live, Result& result);
  // Marks a result invalid, with the reason; also one that screening keeps out
  // of every quorum.
  void reject(LiveUnit& live, Result& result, const std::string& reason);
  // The same, with the consequences of a false result for its host.
  void reject_false(LiveUnit& live, Result& result, const std::string& reason);
  // The operator rejects a reported result of an open or validated unit. A
  // verdict that it was part of is taken back: the others wait for a new one,
  // and have no credit until then. Its host bears no consequences beyond an
  // invalid result: what it did is for the operator to say (host ban).
  void reject_by_hand(LiveUnit& live, Result& result,
                      const std::string& reason);

 private:
  void take_back_verdict(LiveUnit& live);
  void grant(const LiveUnit& live, Result& result);
  void credit_trust(LiveUnit& live, const QuorumDecision& decision);

  ProjectState& state_;
  Consequences consequences_;
};

}  // namespace quorate

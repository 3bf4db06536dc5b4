// What the reviser does next. Pure.
#pragma once

#include <compare>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "workunits/workunit.h"

namespace quorate {

enum class RevisionKind { recheck, revoke };

struct RevisionStep {
  RunKey run = 0;
  RevisionKind kind = RevisionKind::recheck;

  auto operator<=>(const RevisionStep&) const = default;
};

// Of the steps that wait, the one whose turn it is after `last`: all in a
// circle, so that nobody who makes work of one kind, and none that fails, keeps
// the others from being done. nullopt: nothing waits.
std::optional<RevisionStep> next_step(std::span<const RevisionStep> waiting,
                                      std::optional<RevisionStep> last);

// A result that is in the model and has to go.
struct Doomed {
  WorkunitId unit = 0;
  ResultId result = 0;
  HostId host = 0;
  std::string reason;
};

// Those that one entry of the ledger revokes: of the first's host and for its
// reason, in the same order, `most` at the most.
std::vector<Doomed> revoked_together(std::span<const Doomed> waiting,
                                     std::size_t most);

}  // namespace quorate

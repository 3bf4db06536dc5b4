// What the reviser does next. Pure.
#pragma once

#include <compare>
#include <optional>
#include <span>

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

}  // namespace quorate

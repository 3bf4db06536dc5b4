// Which published version is the best.
#pragma once

#include <algorithm>
#include <optional>
#include <vector>

#include "workunits/workunit.h"

namespace quorate {

// The evaluation with the highest accuracy; of equals the one with the lower
// loss, then the earlier.
inline std::optional<Evaluation> best_of(
    const std::vector<Evaluation>& evaluations) {
  auto best = std::max_element(evaluations.begin(), evaluations.end(),
                               [](const Evaluation& a, const Evaluation& b) {
                                 return a.accuracy != b.accuracy
                                            ? a.accuracy < b.accuracy
                                            : a.loss > b.loss;
                               });
  if (best == evaluations.end()) return std::nullopt;
  return *best;
}

}  // namespace quorate

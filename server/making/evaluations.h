// What was found of the published versions.
#pragma once

#include <algorithm>
#include <optional>
#include <vector>

#include "workunits/workunit.h"

namespace quorate {

// The evaluation with the highest accuracy; of equals the one with the lower
// loss, then the earlier.
// nullopt if there is none.
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

// Adds one to those of a run, which are in the order of versions; instead of an
// earlier one of the same version.
// Linear in the evaluations that follow it: mostly none.
inline void keep(std::vector<Evaluation>& evaluations,
                 const Evaluation& evaluation) {
  auto at = std::lower_bound(evaluations.begin(), evaluations.end(), evaluation,
                             [](const Evaluation& a, const Evaluation& b) {
                               return a.version < b.version;
                             });
  if (at != evaluations.end() && at->version == evaluation.version) {
    *at = evaluation;
  } else {
    evaluations.insert(at, evaluation);
  }
}

}  // namespace quorate

#include "server/rechecking/revision_order.h"

#include <algorithm>

namespace quorate {

std::optional<RevisionStep> next_step(std::span<const RevisionStep> waiting,
                                      std::optional<RevisionStep> last) {
  if (waiting.empty()) return std::nullopt;
  std::optional<RevisionStep> next;
  for (const RevisionStep& step : waiting) {
    if (last && step <= *last) continue;
    if (!next || step < *next) next = step;
  }
  return next ? next : *std::min_element(waiting.begin(), waiting.end());
}

}  // namespace quorate

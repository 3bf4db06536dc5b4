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

std::vector<Doomed> revoked_together(std::span<const Doomed> waiting,
                                     std::size_t most) {
  std::vector<Doomed> together;
  for (const Doomed& one : waiting) {
    if (together.size() == most) break;
    if (one.reason == waiting.front().reason) together.push_back(one);
  }
  return together;
}

bool is_last_stretch(const Stretches& stretches, std::uint64_t ledger_entries) {
  constexpr std::uint64_t kFew = 100;
  constexpr unsigned kMost = 10;
  return ledger_entries - stretches.done <= kFew || stretches.made + 1 >= kMost;
}

}  // namespace quorate

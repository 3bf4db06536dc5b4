#include "server/sending/run_turns.h"

#include <algorithm>
#include <cmath>

namespace quorate {

std::vector<RunKey> in_turn(std::vector<RunTurn> runs,
                            std::optional<RunKey> home, double slack) {
  std::sort(runs.begin(), runs.end(), [](const RunTurn& a, const RunTurn& b) {
    return a.mark != b.mark ? a.mark < b.mark : a.run < b.run;
  });
  auto at = std::find_if(runs.begin(), runs.end(),
                         [&](const RunTurn& turn) { return turn.run == home; });
  if (at != runs.end()) {
    const RunTurn& lowest = runs.front();
    const double ahead =
        (at->mark - lowest.mark) * std::min(at->share, lowest.share);
    if (ahead <= slack) std::rotate(runs.begin(), at, at + 1);
  }
  std::vector<RunKey> order;
  order.reserve(runs.size());
  for (const RunTurn& turn : runs) order.push_back(turn.run);
  return order;
}

std::size_t hosts_of_share(std::size_t hosts, double share, double all) {
  const double part = static_cast<double>(hosts) * share / all;
  return std::max<std::size_t>(1, static_cast<std::size_t>(std::llround(part)));
}

std::vector<RunKey> RunTurns::order(std::vector<RunTurn> with_work,
                                    std::optional<RunKey> home,
                                    std::size_t hosts) {
  if (with_work.empty()) return {};
  double lowest = HUGE_VAL;
  for (RunTurn& turn : with_work) {
    turn.mark = marks_.try_emplace(turn.run, now_).first->second;
    lowest = std::min(lowest, turn.mark);
  }
  now_ = std::max(now_, lowest);
  for (auto& [run, mark] : marks_) {
    const bool has_work =
        std::any_of(with_work.begin(), with_work.end(),
                    [run = run](const RunTurn& t) { return t.run == run; });
    if (!has_work) mark = std::max(mark, now_);
  }
  // So far marks stray by themselves, with hosts that come when they like.
  const double slack = usual_ * std::sqrt(static_cast<double>(hosts));
  return in_turn(std::move(with_work), home, slack);
}

void RunTurns::charge(RunKey run, double share, double host_seconds) {
  constexpr double kOfTheLast = 0.1;
  usual_ = usual_ == 0 ? host_seconds
                       : usual_ + kOfTheLast * (host_seconds - usual_);
  marks_.try_emplace(run, now_).first->second += host_seconds / share;
}

}  // namespace quorate

// The assimilator: what a pass would do, on a copy of the model.
#include <algorithm>
#include <cmath>
#include <utility>

#include "server/merging/assimilator.h"

namespace quorate {
namespace {

double norm_of(const ParameterValues& values) {
  constexpr std::size_t kBlock = 65'536;
  std::vector<float> room;
  double sum = 0;
  for (std::size_t first = 0; first < values.size(); first += kBlock) {
    const std::size_t count = std::min(kBlock, values.size() - first);
    for (float value : values.block(first, count, room)) {
      sum += static_cast<double>(value) * static_cast<double>(value);
    }
  }
  return std::sqrt(sum);
}

double distance(const std::vector<float>& a, const std::vector<float>& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const double step = static_cast<double>(a[i]) - static_cast<double>(b[i]);
    sum += step * step;
  }
  return std::sqrt(sum);
}

}  // namespace

std::vector<PlannedUnit> Assimilator::preview(const TrainingRun& training,
                                              const PassLimit& limit) {
  std::vector<PlannedUnit> plan;
  if (!may_take(training)) return plan;
  const ReadyUnits ready = ready_units(state_, training, limit);
  if (ready.units.empty()) return plan;
  ModelState model(training.model.version(), training.model.parameters(),
                   training.model.published(), training.model.rule_state(),
                   training.run.model);
  for (std::size_t i = 0; i < ready.units.size(); ++i) {
    LiveUnit& live = *state_.feeder.find(ready.units[i]);
    const bool makes_version =
        !ready.closes_round || i + 1 == ready.units.size();
    ParameterValues update = read_update(live);
    PlannedUnit planned{live.unit.id,
                        new_entry(training, model, live, makes_version),
                        norm_of(update)};
    ParameterValues base;
    if (!training.rule->in_rounds()) base = read_base(live);
    std::vector<float> before;
    if (makes_version) before = model.parameters();
    model.apply(planned.entry, *training.rule, base.all(), std::move(update));
    if (makes_version) planned.step_norm = distance(model.parameters(), before);
    plan.push_back(std::move(planned));
  }
  return plan;
}

}  // namespace quorate

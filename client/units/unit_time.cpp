#include "client/units/unit_time.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/error.h"
#include "workunits/models/model_spec.h"

namespace quorate::client {
namespace {

constexpr double kTimesLonger = 30;
constexpr Seconds kAlwaysBeyond{600};
constexpr Seconds kHour{3600};

}  // namespace

Seconds estimated_time(const TrainingTask& work, double speed_flops) {
  if (!(speed_flops > 0)) return Seconds(0);
  return Seconds(training_operations(work.model) *
                 static_cast<double>(work.range.samples()) / speed_flops);
}

Seconds most_time(Seconds estimate, Seconds longest) {
  if (estimate <= Seconds(0)) return longest;
  const Seconds most =
      std::max(estimate * kTimesLonger, estimate + kAlwaysBeyond);
  return longest > Seconds(0) ? std::min(most, longest) : most;
}

void expect_short_enough(ResultId result, Seconds estimate, Seconds longest) {
  if (longest <= Seconds(0) || estimate <= longest) return;
  throw Error(
      ErrorKind::unsupported,
      fmt::format("result {}: would take some {:.0f} hours at the speed "
                  "of this device's last result; the preference "
                  "unit_hours allows {:.0f}",
                  result, estimate / kHour, longest / kHour));
}

}  // namespace quorate::client

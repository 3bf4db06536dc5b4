#include "kernels/gpu/slices.h"

#include <algorithm>

#include "base/error.h"

namespace quorate {
namespace {

// Shorter sleeps are not kept well by the system.
constexpr Seconds kLeastRest{0.01};

}  // namespace

Slices::Slices(std::uint32_t percent)
    : rest_per_work_((100.0 - percent) / percent) {
  check(percent >= 1 && percent <= 100, "a share is 1 to 100 percent");
}

std::uint32_t Slices::next(std::uint64_t groups, double cost) const {
  constexpr double kMostGroups = 1U << 30;
  double fit = (budget() - pending_) / std::max(cost, 1.0);
  fit = std::clamp(fit, 1.0, kMostGroups);
  return static_cast<std::uint32_t>(
      std::min(groups, static_cast<std::uint64_t>(fit)));
}

bool Slices::launched(double cost) {
  pending_ += cost;
  return pending_ >= budget();
}

// Waiting longer than meant shows a device that is slower than believed; the
// opposite is only shown by work that filled the budget.
Seconds Slices::finished(Seconds waited) {
  if (waited > kSliceTime) {
    // By no more than this at once: it may have been another program's work,
    // or the driver compiling.
    rate_ = std::min(rate_, std::max(pending_ / waited.count(), rate_ / 4));
  } else if (pending_ >= budget() && waited < kSliceTime / 2) {
    rate_ *= 2;
  }
  rate_ = std::max(rate_, 1e6);
  pending_ = 0;
  owed_ += waited * rest_per_work_;
  if (owed_ < kLeastRest) return Seconds(0);
  Seconds rest = owed_;
  owed_ = Seconds(0);
  return rest;
}

}  // namespace quorate

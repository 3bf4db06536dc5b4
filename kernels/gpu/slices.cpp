#include "kernels/gpu/slices.h"

#include <algorithm>
#include <cmath>

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

std::uint32_t Slices::next(GpuKernel kernel, std::uint64_t groups,
                           double cost) const {
  constexpr double kMostGroups = 1U << 30;
  double each = std::max(cost, 1.0) / paces_[index(kernel)].rate;
  double fit =
      std::clamp((kSliceTime.count() - expected_) / each, 1.0, kMostGroups);
  return static_cast<std::uint32_t>(
      std::min(groups, static_cast<std::uint64_t>(fit)));
}

bool Slices::launched(GpuKernel kernel, double cost) {
  Pace& pace = paces_[index(kernel)];
  pace.expected += cost / pace.rate;
  expected_ += cost / pace.rate;
  return expected_ >= kSliceTime.count();
}

// Waiting longer than meant shows kernels that are slower than believed; the
// opposite is only shown by work that filled the slice.
Seconds Slices::finished(Seconds waited) {
  bool is_full = expected_ >= kSliceTime.count();
  if (waited > kSliceTime || (is_full && waited < kSliceTime / 2)) {
    learn(waited.count() / std::max(expected_, 1e-9));
  }
  for (Pace& pace : paces_) pace.expected = 0;
  expected_ = 0;
  owed_ += waited * rest_per_work_;
  if (owed_ < kLeastRest) return Seconds(0);
  Seconds rest = owed_;
  owed_ = Seconds(0);
  return rest;
}

// Each kernel by its share of the slice. By no more than this at once: it may
// have been another program's work, or the driver compiling.
void Slices::learn(double slowness) {
  slowness = std::clamp(slowness, 0.5, 4.0);
  for (Pace& pace : paces_) {
    double share = expected_ > 0 ? pace.expected / expected_ : 0;
    pace.rate = std::max(pace.rate / std::pow(slowness, share), 1e6);
  }
}

}  // namespace quorate

#include "client/worker/units/pace.h"

#include "base/error.h"

namespace quorate::worker {
namespace {

constexpr Seconds kLeastRest{0.01};

}  // namespace

Pace::Pace(const Clock& clock, std::uint32_t cpu_percent)
    : clock_(clock),
      rest_per_work_((100.0 - cpu_percent) / cpu_percent),
      last_progress_(clock.now()),
      last_checkpoint_(last_progress_),
      work_began_(last_progress_) {
  check(cpu_percent >= 1 && cpu_percent <= 100, "cpu percent is 1 to 100");
}

bool Pace::is_due(Instant& last, Seconds interval) {
  Instant now = clock_.now();
  if (now - last < interval) return false;
  last = now;
  return true;
}

bool Pace::is_progress_due() {
  return is_due(last_progress_, kProgressInterval);
}

bool Pace::is_checkpoint_due() {
  return is_due(last_checkpoint_, kCheckpointInterval);
}

Seconds Pace::rest_due() {
  Instant now = clock_.now();
  owed_ += (now - work_began_) * rest_per_work_;
  work_began_ = now;
  if (owed_ < kLeastRest) return Seconds(0);
  Seconds rest = owed_;
  owed_ = Seconds(0);
  return rest;
}

void Pace::resume() {
  work_began_ = clock_.now();
}

}  // namespace quorate::worker

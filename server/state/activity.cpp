#include "server/state/activity.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace quorate {
namespace {

constexpr Seconds kMinute{60};
constexpr Seconds kHalfLife{30 * 60};

}  // namespace

Activity::Activity(const Clock& clock) : clock_(clock), start_(clock.now()) {}

std::uint64_t Activity::minute() const {
  return static_cast<std::uint64_t>((clock_.now() - start_) / kMinute);
}

MinuteCounts& Activity::now() {
  std::uint64_t missing = minute() - last_minute_;
  last_minute_ += missing;
  // After a long sleep the whole ring is zeros; there is no use in more.
  for (missing = std::min<std::uint64_t>(missing, kMinutes); missing > 0;
       --missing) {
    minutes_.emplace_back();
    if (minutes_.size() > kMinutes) minutes_.pop_front();
  }
  return minutes_.back();
}

void Activity::count_bytes(std::uint64_t in, std::uint64_t out) {
  now().bytes_in += in;
  now().bytes_out += out;
}

void Activity::add_closed(RunKey run, ClosedUnit unit) {
  std::deque<ClosedUnit>& units = closed_[run];
  units.push_front(std::move(unit));
  if (units.size() > kClosedUnits) units.pop_back();
}

const std::deque<MinuteCounts>& Activity::minutes() {
  now();
  return minutes_;
}

Seconds Activity::into_minute() const {
  return clock_.now() - start_ - kMinute * static_cast<double>(minute());
}

std::uint64_t Activity::results_per_minute() {
  std::uint64_t received = now().received;
  if (minutes_.size() < 2) return received;
  double share = 1 - into_minute() / kMinute;
  double before = static_cast<double>((minutes_.end() - 2)->received);
  return received + static_cast<std::uint64_t>(std::llround(share * before));
}

const std::deque<ClosedUnit>& Activity::closed(RunKey run) const {
  static const std::deque<ClosedUnit> kNone;
  auto found = closed_.find(run);
  return found == closed_.end() ? kNone : found->second;
}

double Activity::at_now(const Recent& recent) const {
  return recent.seconds * std::exp2(-((clock_.now() - recent.at) / kHalfLife));
}

void Activity::count_host_time(RunKey run, double seconds) {
  Recent& recent = host_time_[run];
  recent = {at_now(recent) + seconds, clock_.now()};
}

std::optional<double> Activity::part_of_hosts(RunKey run) const {
  double all = 0;
  for (const auto& [key, recent] : host_time_) all += at_now(recent);
  if (!(all > 0)) return std::nullopt;
  auto found = host_time_.find(run);
  return found == host_time_.end() ? 0 : at_now(found->second) / all;
}

}  // namespace quorate

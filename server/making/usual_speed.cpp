#include "server/making/usual_speed.h"

#include <algorithm>
#include <vector>

namespace quorate {

void UsualSpeed::note(HostId host, double flops) {
  constexpr std::size_t kHosts = 63;
  if (!(flops > 0)) return;
  std::erase_if(last_, [&](const Asked& asked) { return asked.host == host; });
  if (last_.size() == kHosts) last_.pop_front();
  last_.push_back({host, flops});
  std::vector<double> sorted;
  sorted.reserve(last_.size());
  for (const Asked& asked : last_) sorted.push_back(asked.flops);
  const auto middle =
      sorted.begin() + static_cast<std::ptrdiff_t>((sorted.size() - 1) / 2);
  std::nth_element(sorted.begin(), middle, sorted.end());
  median_ = *middle;
}

}  // namespace quorate

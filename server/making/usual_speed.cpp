#include "server/making/usual_speed.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace quorate {

void UsualSpeed::note(HostId host, double flops) {
  constexpr std::size_t kHosts = 63;
  constexpr std::size_t kQuestions = 8;
  if (!(flops > 0)) return;
  Asked asked{host, {}};
  const auto known =
      std::find_if(last_.begin(), last_.end(),
                   [&](const Asked& a) { return a.host == host; });
  if (known != last_.end()) {
    asked = std::move(*known);
    last_.erase(known);
  }
  if (asked.flops.size() == kQuestions) asked.flops.pop_front();
  asked.flops.push_back(flops);
  if (last_.size() == kHosts) last_.pop_front();
  last_.push_back(std::move(asked));
  std::vector<double> sorted;
  sorted.reserve(last_.size());
  fastest_ = 0;
  for (const Asked& one : last_) {
    const auto [least, most] =
        std::minmax_element(one.flops.begin(), one.flops.end());
    sorted.push_back(*least);
    fastest_ = std::max(fastest_, *most);
  }
  const auto middle =
      sorted.begin() + static_cast<std::ptrdiff_t>((sorted.size() - 1) / 2);
  std::nth_element(sorted.begin(), middle, sorted.end());
  median_ = *middle;
}

}  // namespace quorate

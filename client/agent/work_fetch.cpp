#include "client/agent/work_fetch.h"

#include <algorithm>

namespace quorate::client {
namespace {

// With this many computed results on their way, more would only pile up.
constexpr std::size_t kMostOnTheirWay = 16;
// What the protocol lets a host hold, and ask for at once.
constexpr std::size_t kMostHeld = 256;
constexpr std::size_t kMostAsked = 64;
// Results that a worker has at hand.
constexpr std::size_t kAhead = 2;

template <class Condition>
std::size_t count(const std::vector<Task>& tasks, Condition condition) {
  return static_cast<std::size_t>(
      std::count_if(tasks.begin(), tasks.end(), condition));
}

std::size_t count_for(const std::string& device,
                      const std::vector<Task>& tasks) {
  return count(tasks, [&](const Task& task) {
    return is_uncomputed(task) && task.device == device;
  });
}

}  // namespace

std::optional<WorkWish> work_wanted(std::span<const DeviceWorkers> devices,
                                    const std::vector<Task>& tasks, bool once) {
  std::size_t uncomputed = count(tasks, is_uncomputed);
  std::size_t on_their_way = count(tasks, is_on_its_way);
  if (on_their_way >= kMostOnTheirWay || tasks.size() >= kMostHeld ||
      (once && uncomputed + on_their_way > 0)) {
    return std::nullopt;
  }
  std::size_t workers = 0;
  for (const DeviceWorkers& one : devices) workers += one.workers;
  if (uncomputed >= kAhead * workers) return std::nullopt;

  const DeviceWorkers* neediest = nullptr;
  std::size_t least = 0;  // results that it has
  for (const DeviceWorkers& one : devices) {
    std::size_t has = count_for(one.device, tasks);
    if (!one.is_ready || has >= kAhead * one.workers) continue;
    // As has / workers, without fractions.
    if (neediest != nullptr && has * neediest->workers >= least * one.workers) {
      continue;
    }
    neediest = &one;
    least = has;
  }
  if (neediest == nullptr) return std::nullopt;
  const bool is_ahead = least >= neediest->workers;
  const std::size_t each = is_ahead ? kAhead : 1;
  std::size_t lacking =
      std::min({each * neediest->workers - least, kAhead * workers - uncomputed,
                kMostHeld - tasks.size(), kMostAsked});
  return WorkWish{neediest->device, neediest->speed_flops,
                  once ? 1U : static_cast<std::uint32_t>(lacking), is_ahead};
}

bool goes_before(const WorkWish& wish, const WorkWish& asked) {
  return asked.is_ahead && !wish.is_ahead && wish.device != asked.device;
}

}  // namespace quorate::client

#include "kernels/gpu/gpu_queue.h"

#include <algorithm>
#include <thread>

namespace quorate {

GpuPlace GpuQueue::scratch(Scratch use, std::uint64_t count) {
  Kept& kept = kept_[static_cast<std::size_t>(use)];
  count = std::max<std::uint64_t>(count, 1);
  if (count > kept.count) {
    kept = {};  // first, or both would exist at once
    kept.buffer = device_->allocate(count * sizeof(float));
    kept.count = count;
  }
  return {kept.buffer.get(), 0};
}

GpuPlace GpuQueue::put(Scratch use, std::span<const std::uint32_t> words) {
  GpuPlace place = scratch(use, words.size());
  device_->write(*place.buffer, 0,
                 {reinterpret_cast<const std::uint8_t*>(words.data()),
                  words.size_bytes()});
  return place;
}

void GpuQueue::launch_slices(GpuKernel kernel, const GpuWork& work,
                             std::vector<GpuArgument>& arguments) {
  std::uint64_t done = 0;
  while (done < work.groups) {
    std::uint32_t groups = slices_.next(kernel, work.groups - done, work.cost);
    auto first = static_cast<std::uint32_t>(done);
    arguments[0] = {nullptr, &first, sizeof first};
    device_->launch(kernel, groups, arguments);
    done += groups;
    if (slices_.launched(kernel, work.cost * groups)) wait();
  }
}

void GpuQueue::wait() {
  SystemClock clock;
  Instant start = clock.now();
  device_->finish();
  Seconds rest = slices_.finished(clock.now() - start);
  if (rest > Seconds(0)) std::this_thread::sleep_for(rest);
}

void GpuQueue::read(const GpuPlace& from, std::span<std::uint8_t> to) {
  wait();
  device_->read(*from.buffer, from.first * sizeof(float), to);
}

}  // namespace quorate

// Launches kernels on a device in slices, and keeps the memory that operations
// need in between.
#pragma once

#include <array>
#include <type_traits>
#include <vector>

#include "kernels/gpu/gpu_device.h"
#include "kernels/gpu/slices.h"

namespace quorate {

// An array in a device's memory: where its first element lies.
struct GpuPlace {
  GpuBuffer* buffer;
  std::uint64_t first;

  GpuPlace operator+(std::uint64_t elements) const {
    return {buffer, first + elements};
  }
};

// Memory of one use, kept from call to call.
enum class Scratch {
  partials,
  totals,
  pairs,
  other_pairs,
  slopes,
  products,
  means,
  other_means,
  deviations,
  words,
  other_words,
  more_words,
  bytes,
  result,
};
inline constexpr std::size_t kScratchCount = 14;

// How much there is to do: groups, and what one costs (see Slices).
struct GpuWork {
  std::uint64_t groups;
  double cost;
};
// One item per element; 1024 of them make a group. Most elements cost what
// their way through memory does: a few reads and a write.
inline constexpr double kElementCost = 64;
inline constexpr double kReadCost = 16;
inline GpuWork elements(std::uint64_t count, double cost = kElementCost) {
  return {(count + 1023) / 1024, cost * 1024};
}

class GpuQueue {
 public:
  GpuQueue(std::unique_ptr<GpuDevice> device, std::uint32_t percent)
      : device_(std::move(device)), slices_(percent) {}

  GpuDevice& device() { return *device_; }
  const GpuDevice& device() const { return *device_; }

  // Room for `count` elements, whatever they hold; until the next call for the
  // same use.
  GpuPlace scratch(Scratch use, std::uint64_t count);
  // The same, filled with `words`.
  GpuPlace put(Scratch use, std::span<const std::uint32_t> words);

  // arguments: those of the kernel after `first`, of exactly its types: places,
  // words (uint32), sizes (uint64), float, or structs of arguments.h.
  template <class... Arguments>
  void launch(GpuKernel kernel, const GpuWork& work,
              const Arguments&... arguments) {
    std::vector<GpuArgument> all(1);  // the first: which group is the first
    (add(all, arguments), ...);
    launch_slices(kernel, work, all);
  }

  // Waits.
  void read(const GpuPlace& from, std::span<std::uint8_t> to);

 private:
  static void add(std::vector<GpuArgument>& to, const GpuPlace& place) {
    to.push_back({place.buffer, nullptr, 0});
    to.push_back({nullptr, &place.first, sizeof place.first});
  }
  template <class Value>
  static void add(std::vector<GpuArgument>& to, const Value& value) {
    static_assert(std::is_same_v<Value, std::uint32_t> ||
                      std::is_same_v<Value, std::uint64_t> ||
                      std::is_same_v<Value, float> || std::is_class_v<Value>,
                  "not a type of the kernels");
    to.push_back({nullptr, &value, sizeof value});
  }
  void launch_slices(GpuKernel kernel, const GpuWork& work,
                     std::vector<GpuArgument>& arguments);
  void wait();

  struct Kept {
    std::unique_ptr<GpuBuffer> buffer;
    std::uint64_t count = 0;
  };

  std::unique_ptr<GpuDevice> device_;
  Slices slices_;
  std::array<Kept, kScratchCount> kept_;
};

}  // namespace quorate

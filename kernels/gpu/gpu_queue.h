// Launches kernels on a device in slices, and keeps the memory that operations
// need in between.
//
// One per GPU backend, used by its caller's thread. Everything goes to the
// device in the order of the calls, which is what makes shared scratch memory
// safe: a later launch that writes it runs after the earlier that reads it.
//
// Scratch memory is kept rather than allocated for each operation: allocating
// waits for the device with some drivers, and takes as long as a small kernel.
#pragma once

#include <array>
#include <type_traits>
#include <vector>

#include "kernels/gpu/gpu_device.h"
#include "kernels/gpu/slices.h"

namespace quorate {

// An array in a device's memory: where its first element lies, in elements of 4
// bytes. Borrowed: the tensor or the queue owns the buffer. Never null.
struct GpuPlace {
  GpuBuffer* buffer;
  std::uint64_t first;

  // The place so many elements further on, in the same buffer.
  GpuPlace operator+(std::uint64_t elements) const {
    return {buffer, first + elements};
  }
};

// Memory of one use, kept from call to call. Two arrays that one operation
// needs at the same time must have two uses.
enum class Scratch {
  // Sums that are to be added: of segments of a product, of chains.
  partials,
  // Running sums of a product that is split over several rounds.
  totals,
  // Sums that are added in pairs, from one to the other and back.
  pairs,
  other_pairs,
  // Per image and channel: sums over the pixels; `products` has a second one of
  // them. Also the slopes by the weights of an attention.
  slopes,
  products,
  // Per image and group, for the gradient of a normalization.
  means,
  other_means,
  deviations,
  // Ids, orders and targets, which the host puts there.
  words,
  other_words,
  more_words,
  bytes,
  // A few numbers that the host reads back.
  result,
};
// Of the uses above.
inline constexpr std::size_t kScratchCount = 14;

// How much there is to do: groups of 256 items, and what one costs (see
// Slices). Only the length of slices depends on the cost.
struct GpuWork {
  std::uint64_t groups;
  double cost;
};
// One item per element; 1024 of them make a group. Most elements cost what
// their way through memory does: a few reads and a write.
inline constexpr double kElementCost = 64;
// One read, in a kernel that reads much more than it computes.
inline constexpr double kReadCost = 16;
// The work of a kernel that has Q_FOR_ELEMENTS over `count`.
inline GpuWork elements(std::uint64_t count, double cost = kElementCost) {
  return {(count + 1023) / 1024, cost * 1024};
}

// Owns the device and the scratch memory, which grows to the most that was
// asked for and is freed with the queue.
class GpuQueue {
 public:
  GpuQueue(std::unique_ptr<GpuDevice> device, std::uint32_t percent)
      : device_(std::move(device)), slices_(percent) {}

  GpuDevice& device() { return *device_; }
  const GpuDevice& device() const { return *device_; }

  // Room for `count` elements, whatever they hold; until the next call for the
  // same use, which may move it. Throws io if there is not enough.
  GpuPlace scratch(Scratch use, std::uint64_t count);
  // The same, filled with `words`.
  // At most as many words as fit the memory; waits for none of the launches.
  GpuPlace put(Scratch use, std::span<const std::uint32_t> words);

  // Starts a kernel, in slices if it is long; returns when the last one was
  // launched, having waited and rested between them. arguments: those of the
  // kernel after `first`, of exactly its types: places, words (uint32), sizes
  // (uint64), float, or structs of arguments.h. work.groups may be 0.
  template <class... Arguments>
  void launch(GpuKernel kernel, const GpuWork& work,
              const Arguments&... arguments) {
    std::vector<GpuArgument> all(1);  // the first: which group is the first
    (add(all, arguments), ...);
    launch_slices(kernel, work, all);
  }

  // Waits for all that was launched, then copies to.size() bytes.
  void read(const GpuPlace& from, std::span<std::uint8_t> to);

 private:
  // A place is two arguments: its buffer and its first element.
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
  // Lets the device finish, tells slices_ how long that took, and rests.
  void wait();

  // Scratch memory of one use; null until it is asked for.
  struct Kept {
    std::unique_ptr<GpuBuffer> buffer;
    std::uint64_t count = 0;
  };

  std::unique_ptr<GpuDevice> device_;
  Slices slices_;
  // By Scratch.
  std::array<Kept, kScratchCount> kept_;
};

}  // namespace quorate

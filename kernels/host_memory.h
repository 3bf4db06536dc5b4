// Memory of backends that compute on the host (cpu/ and reference/), and the
// pointers behind views. Nothing here is safe for two threads at once, but
// distinct buffers are independent.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "kernels/tensor.h"

namespace quorate {

// Alignment of every host memory, in bytes: one cache line, one 512-bit vector.
inline constexpr std::size_t kHostAlignment = 64;

// `count` floats, aligned, uninitialised. Throws io if there is not enough.
// Counterpart of allocate_aligned; no other memory may be given to it.
struct AlignedDelete {
  void operator()(float* data) const;
};
using AlignedFloats = std::unique_ptr<float[], AlignedDelete>;
AlignedFloats allocate_aligned(std::size_t count);

// Memory that is kept from call to call and grows.
class HostBuffer {
 public:
  // Room for `count` floats, whatever they hold. Throws io if there is not
  // enough.
  // Earlier pointers into it are invalid once it grew. What it held is lost
  // then: this is scratch, not a vector.
  float* of(std::size_t count) {
    if (count > size_) {
      data_ = nullptr;  // first, or both would exist at once
      data_ = allocate_aligned(count);
      size_ = count;
    }
    return data_.get();
  }

 private:
  AlignedFloats data_;
  std::size_t size_ = 0;
};

// The same for each thread of a pool. Made for all at once: which of them will
// need it is not known.
// reserve() is called by the thread that starts an operation, before the pool
// runs; then each thread takes its own by number.
class ThreadBuffers {
 public:
  explicit ThreadBuffers(unsigned threads) : buffers_(threads) {}

  // Room for `count` floats each. Throws io if there is not enough.
  // Every thread gets the room, though few may use it: pages that are never
  // touched cost nothing.
  void reserve(std::size_t count) {
    for (HostBuffer& buffer : buffers_) buffer.of(count);
  }
  // What was reserved last, or more.
  float* operator[](unsigned thread) { return buffers_[thread].of(0); }

 private:
  std::vector<HostBuffer> buffers_;
};

// The Memory behind every tensor of a host backend. Large ones ask the system
// for pages of 2 MiB; that is a wish and may be refused.
class HostMemory final : public Memory {
 public:
  // All +0. Throws io if there is not enough.
  explicit HostMemory(std::size_t count);

  float* data() { return data_.get(); }
  const float* data() const { return data_.get(); }

 private:
  AlignedFloats data_;
};

// The first element of a view. Aborts if the view belongs to another kind of
// backend or exceeds its memory.
float* host_data(const View& view);
const float* host_data(const ConstView& view);

}  // namespace quorate

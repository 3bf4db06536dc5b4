// Memory of a GPU behind the tensors of its backend.
//
// Made by the GPU backend alone. The buffer may hold more than `count` elements
// (at least one), so that an empty tensor has a place.
#pragma once

#include "kernels/gpu/gpu_queue.h"
#include "kernels/tensor.h"

namespace quorate {

class GpuMemory final : public Memory {
 public:
  GpuMemory(std::size_t count, std::unique_ptr<GpuBuffer> buffer)
      : Memory(count), buffer_(std::move(buffer)) {}

  // Never null; owned by this object.
  GpuBuffer* buffer() const { return buffer_.get(); }

 private:
  std::unique_ptr<GpuBuffer> buffer_;
};

// Where a view begins. Aborts if it belongs to another kind of backend or
// exceeds its memory.
GpuPlace gpu_place(const ConstView& view);

}  // namespace quorate

// Memory of a GPU behind the tensors of its backend.
#pragma once

#include "kernels/gpu/gpu_queue.h"
#include "kernels/tensor.h"

namespace quorate {

class GpuMemory final : public Memory {
 public:
  GpuMemory(std::size_t count, std::unique_ptr<GpuBuffer> buffer)
      : Memory(count), buffer_(std::move(buffer)) {}

  GpuBuffer* buffer() const { return buffer_.get(); }

 private:
  std::unique_ptr<GpuBuffer> buffer_;
};

// Where a view begins. Aborts if it belongs to another kind of backend or
// exceeds its memory.
GpuPlace gpu_place(const ConstView& view);

}  // namespace quorate

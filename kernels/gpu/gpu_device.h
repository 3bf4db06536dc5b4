// What a GPU can do, whatever its interface: the narrow seam between the
// operations (kernels/gpu) and OpenCL or CUDA. Commands run in the order of
// their calls, possibly after the call; each that fails throws io, naming the
// device, what was tried and the interface's own name of the error.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "base/bytes.h"
#include "kernels/backend.h"
#include "kernels/gpu/gpu_kernels.h"

namespace quorate {

// A piece of a device's memory. Work under way keeps what it uses.
class GpuBuffer {
 public:
  virtual ~GpuBuffer() = default;
};

// An argument of a kernel: a buffer, or `size` bytes at `value`.
struct GpuArgument {
  const GpuBuffer* buffer = nullptr;
  const void* value = nullptr;
  std::size_t size = 0;
};

class GpuDevice {
 public:
  virtual ~GpuDevice() = default;

  virtual DeviceInfo info() const = 0;
  // How many groups it runs at the same time, at least.
  virtual std::uint32_t compute_units() const = 0;

  // Throws io if there is not enough, saying what there is.
  virtual std::unique_ptr<GpuBuffer> allocate(std::size_t bytes) = 0;
  // `from` may be changed after the call.
  virtual void write(GpuBuffer& to, std::size_t offset, ByteView from) = 0;
  // Waits.
  virtual void read(const GpuBuffer& from, std::size_t offset,
                    std::span<std::uint8_t> to) = 0;
  // Zeros.
  virtual void clear(GpuBuffer& buffer, std::size_t offset,
                     std::size_t bytes) = 0;
  // Groups of 256 items.
  virtual void launch(GpuKernel kernel, std::uint32_t groups,
                      std::span<const GpuArgument> arguments) = 0;
  // Waits for all commands.
  virtual void finish() = 0;
};

}  // namespace quorate

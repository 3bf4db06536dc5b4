// What a GPU can do, whatever its interface: the narrow seam between the
// operations (kernels/gpu) and OpenCL or CUDA. Commands run in the order of
// their calls, possibly after the call; each that fails throws io, naming the
// device, what was tried and the interface's own name of the error.
//
// Used by one thread at a time, behind a GpuQueue. Implementations:
// kernels/opencl, kernels/cuda. They know nothing of operations; GpuQueue and
// the files beside it know nothing of drivers.
//
// One queue is enough: a training step reads a few numbers back and sends a
// batch, so there is little that could overlap.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "base/bytes.h"
#include "kernels/backend.h"
#include "kernels/gpu/gpu_kernels.h"

namespace quorate {

// A piece of a device's memory, freed by destroying it. Work under way keeps
// what it uses: the implementation waits for it or lets the driver do so. Only
// the device that made a buffer may be given it; there is no check.
class GpuBuffer {
 public:
  virtual ~GpuBuffer() = default;
};

// An argument of a kernel: a buffer, or `size` bytes at `value`.
// Both pointers are borrowed and read during launch() only.
struct GpuArgument {
  const GpuBuffer* buffer = nullptr;
  const void* value = nullptr;
  std::size_t size = 0;
};

// Owns a queue (OpenCL) or a stream (CUDA) and the compiled kernels.
class GpuDevice {
 public:
  virtual ~GpuDevice() = default;

  // What was known when the device was found; asks the driver nothing.
  virtual DeviceInfo info() const = 0;
  // How many groups it runs at the same time, at least.
  virtual std::uint32_t compute_units() const = 0;

  // bytes: at least 1. Contents are arbitrary. Throws io if there is not
  // enough, saying what there is.
  virtual std::unique_ptr<GpuBuffer> allocate(std::size_t bytes) = 0;
  // offset: in bytes, as below. `from` may be changed after the call. The range
  // must lie inside the buffer: not checked here (gpu_place was before).
  virtual void write(GpuBuffer& to, std::size_t offset, ByteView from) = 0;
  // Waits.
  virtual void read(const GpuBuffer& from, std::size_t offset,
                    std::span<std::uint8_t> to) = 0;
  // Sets bytes to zero, which is +0 for numbers.
  virtual void clear(GpuBuffer& buffer, std::size_t offset,
                     std::size_t bytes) = 0;
  // groups: at least 1, each of 256 items. arguments: one for each parameter of
  // the kernel, of exactly its size; a mismatch is an error of the driver at
  // best. Not split: GpuQueue cuts long work before.
  virtual void launch(GpuKernel kernel, std::uint32_t groups,
                      std::span<const GpuArgument> arguments) = 0;
  // Waits for all commands.
  virtual void finish() = 0;
};

}  // namespace quorate

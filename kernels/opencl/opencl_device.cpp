#include "kernels/opencl/opencl_device.h"

#include <array>

#include <fmt/format.h>

#include "base/error.h"

namespace quorate::opencl {
namespace {

constexpr std::size_t kGroupItems = 256;

class Buffer final : public GpuBuffer {
 public:
  explicit Buffer(cl_mem memory) : memory_(memory) {}
  ~Buffer() override { library().clReleaseMemObject(memory_); }
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;

  const cl_mem& get() const { return memory_; }

 private:
  cl_mem memory_;
};

const cl_mem& memory_of(const GpuBuffer& buffer) {
  return static_cast<const Buffer&>(buffer).get();
}

class Device final : public GpuDevice {
 public:
  Device(const DeviceEntry& device, std::shared_ptr<Program> program)
      : entry_(device), program_(std::move(program)) {
    cl_int code = CL_SUCCESS;
    queue_ = cl_.clCreateCommandQueue(program_->context(), entry_.id, 0, &code);
    check_call(code, entry_.name, "make a queue");
  }
  ~Device() override {
    for (cl_kernel kernel : kernels_) {
      if (kernel != nullptr) cl_.clReleaseKernel(kernel);
    }
    cl_.clReleaseCommandQueue(queue_);
  }
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;

  DeviceInfo info() const override {
    return {entry_.name, entry_.description, entry_.is_gpu, entry_.model,
            entry_.driver};
  }
  std::uint32_t compute_units() const override { return entry_.compute_units; }

  std::unique_ptr<GpuBuffer> allocate(std::size_t bytes) override {
    cl_int code = CL_INVALID_BUFFER_SIZE;
    cl_mem memory = nullptr;
    if (bytes <= entry_.largest_piece) {
      memory = cl_.clCreateBuffer(program_->context(), CL_MEM_READ_WRITE, bytes,
                                  nullptr, &code);
    }
    if (code == CL_SUCCESS) return std::make_unique<Buffer>(memory);
    throw Error(ErrorKind::io,
                fmt::format("device \"{}\": memory for {} bytes: not available "
                            "({}): the device has {} MiB, at most {} MiB in "
                            "one piece; close what else uses it, or use "
                            "another device",
                            entry_.name, bytes, error_name(code),
                            entry_.memory >> 20, entry_.largest_piece >> 20));
  }

  void write(GpuBuffer& to, std::size_t offset, ByteView from) override {
    if (from.empty()) return;
    check_call(
        cl_.clEnqueueWriteBuffer(queue_, memory_of(to), CL_TRUE, offset,
                                 from.size(), from.data(), 0, nullptr, nullptr),
        entry_.name, "write to its memory");
  }

  void read(const GpuBuffer& from, std::size_t offset,
            std::span<std::uint8_t> to) override {
    if (to.empty()) return;
    check_call(
        cl_.clEnqueueReadBuffer(queue_, memory_of(from), CL_TRUE, offset,
                                to.size(), to.data(), 0, nullptr, nullptr),
        entry_.name, "read from its memory");
  }

  void clear(GpuBuffer& buffer, std::size_t offset,
             std::size_t bytes) override {
    const cl_uint zero = 0;
    check_call(
        cl_.clEnqueueFillBuffer(queue_, memory_of(buffer), &zero, sizeof zero,
                                offset, bytes, 0, nullptr, nullptr),
        entry_.name, "clear its memory");
  }

  void launch(GpuKernel which, std::uint32_t groups,
              std::span<const GpuArgument> arguments) override {
    cl_kernel kernel = kernel_of(which);
    for (std::size_t i = 0; i < arguments.size(); ++i) {
      const GpuArgument& argument = arguments[i];
      const bool is_buffer = argument.buffer != nullptr;
      check_call(cl_.clSetKernelArg(
                     kernel, static_cast<cl_uint>(i),
                     is_buffer ? sizeof(cl_mem) : argument.size,
                     is_buffer ? &memory_of(*argument.buffer) : argument.value),
                 entry_.name,
                 fmt::format("argument {} of {}", i, name_of(which)));
    }
    std::size_t items = groups * kGroupItems;
    check_call(cl_.clEnqueueNDRangeKernel(queue_, kernel, 1, nullptr, &items,
                                          &kGroupItems, 0, nullptr, nullptr),
               entry_.name, name_of(which));
    check_call(cl_.clFlush(queue_), entry_.name, name_of(which));
  }

  void finish() override {
    check_call(cl_.clFinish(queue_), entry_.name, "wait for its work");
  }

 private:
  cl_kernel kernel_of(GpuKernel which) {
    cl_kernel& kernel = kernels_[static_cast<std::size_t>(which)];
    if (kernel != nullptr) return kernel;
    cl_int code = CL_SUCCESS;
    kernel = cl_.clCreateKernel(program_->get(), name_of(which).data(), &code);
    check_call(code, entry_.name, name_of(which));
    return kernel;
  }

  const Library& cl_ = library();
  DeviceEntry entry_;
  std::shared_ptr<Program> program_;
  cl_command_queue queue_ = nullptr;
  std::array<cl_kernel, kGpuKernelNames.size()> kernels_{};
};

}  // namespace

std::unique_ptr<GpuDevice> make_device(const DeviceEntry& device) {
  std::string why = unfitness(device);
  if (!why.empty()) {
    throw Error(ErrorKind::unsupported,
                fmt::format("device \"{}\" ({}): {}", device.name,
                            device.description, why));
  }
  return make_device(device, shared_program(device));
}

std::unique_ptr<GpuDevice> make_device(const DeviceEntry& device,
                                       std::shared_ptr<Program> program) {
  return std::make_unique<Device>(device, std::move(program));
}

}  // namespace quorate::opencl

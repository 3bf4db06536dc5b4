#include "kernels/cuda/cuda_device.h"

#include <fmt/format.h>

#include "base/error.h"

#include <cuda_runtime_api.h>

// kernels/cuda/kernels.cu
extern "C" const void* const quorate_cuda_kernels[];

namespace quorate::cuda {
namespace {

constexpr unsigned kGroupItems = 256;
constexpr int kLeastCapability = 75;

// Throws io unless code is cudaSuccess: device and what was tried on it.
void check_call(cudaError_t code, const std::string& device,
                std::string_view what) {
  if (code == cudaSuccess) return;
  cudaGetLastError();  // or the next call would report it too
  throw Error(ErrorKind::io,
              fmt::format("device \"{}\": {}: {} ({}); if this goes on, update "
                          "the driver or use another device",
                          device, what, cudaGetErrorName(code),
                          cudaGetErrorString(code)));
}

class Buffer final : public GpuBuffer {
 public:
  Buffer(int device, void* data) : device_(device), data_(data) {}
  // Waits for what uses it.
  ~Buffer() override {
    cudaSetDevice(device_);
    cudaFree(data_);
  }
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;

  void* const& data() const { return data_; }

 private:
  int device_;
  void* data_;
};

void* const& data_of(const GpuBuffer& buffer) {
  return static_cast<const Buffer&>(buffer).data();
}
char* at(const GpuBuffer& buffer, std::size_t offset) {
  return static_cast<char*>(data_of(buffer)) + offset;
}

class Device final : public GpuDevice {
 public:
  explicit Device(const DeviceEntry& device) : entry_(device) {
    use();
    // A thread that waits sleeps, and leaves its core to others.
    cudaSetDeviceFlags(cudaDeviceScheduleBlockingSync);
    cudaGetLastError();  // another backend of this process was first
    call(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking),
         "make a queue");
  }
  ~Device() override {
    cudaSetDevice(entry_.index);
    cudaStreamSynchronize(stream_);
    cudaStreamDestroy(stream_);
  }
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;

  DeviceInfo info() const override {
    return {entry_.name, entry_.description, true, entry_.model, entry_.driver};
  }
  std::uint32_t compute_units() const override { return entry_.compute_units; }

  std::unique_ptr<GpuBuffer> allocate(std::size_t bytes) override {
    use();
    void* data = nullptr;
    cudaError_t code = cudaMalloc(&data, bytes);
    if (code == cudaSuccess) {
      return std::make_unique<Buffer>(entry_.index, data);
    }
    cudaGetLastError();
    std::size_t free_bytes = 0;
    std::size_t all_bytes = 0;
    cudaMemGetInfo(&free_bytes, &all_bytes);
    throw Error(ErrorKind::io,
                fmt::format("device \"{}\": memory for {} bytes: not available "
                            "({}): {} MiB of {} MiB are free; close what else "
                            "uses it, or use another device",
                            entry_.name, bytes, cudaGetErrorName(code),
                            free_bytes >> 20, all_bytes >> 20));
  }

  // Memory of the program is copied before the call returns.
  void write(GpuBuffer& to, std::size_t offset, ByteView from) override {
    use();
    call(cudaMemcpyAsync(at(to, offset), from.data(), from.size(),
                         cudaMemcpyHostToDevice, stream_),
         "write to its memory");
  }
  void read(const GpuBuffer& from, std::size_t offset,
            std::span<std::uint8_t> to) override {
    use();
    call(cudaMemcpyAsync(to.data(), at(from, offset), to.size(),
                         cudaMemcpyDeviceToHost, stream_),
         "read from its memory");
    finish();
  }
  void clear(GpuBuffer& buffer, std::size_t offset,
             std::size_t bytes) override {
    use();
    call(cudaMemsetAsync(at(buffer, offset), 0, bytes, stream_),
         "clear its memory");
  }

  void launch(GpuKernel kernel, std::uint32_t groups,
              std::span<const GpuArgument> arguments) override {
    use();
    std::vector<void*> values;
    for (const GpuArgument& argument : arguments) {
      const void* value = argument.buffer != nullptr
                              ? &data_of(*argument.buffer)
                              : argument.value;
      values.push_back(const_cast<void*>(value));  // CUDA only reads it
    }
    call(cudaLaunchKernel(
             quorate_cuda_kernels[static_cast<std::size_t>(kernel)],
             dim3(groups), dim3(kGroupItems), values.data(), 0, stream_),
         name_of(kernel));
  }
  void finish() override {
    use();
    call(cudaStreamSynchronize(stream_), "wait for its work");
  }

 private:
  void call(cudaError_t code, std::string_view what) const {
    check_call(code, entry_.name, what);
  }
  // Which device a thread means is its own affair.
  void use() const { call(cudaSetDevice(entry_.index), "open the device"); }

  DeviceEntry entry_;
  cudaStream_t stream_ = nullptr;
};

}  // namespace

std::vector<DeviceEntry> find_devices() {
  int count = 0;
  cudaError_t code = cudaGetDeviceCount(&count);
  if (code != cudaSuccess) {
    cudaGetLastError();
    throw Error(ErrorKind::unsupported,
                fmt::format("CUDA finds no GPU ({}): it needs an NVIDIA GPU "
                            "and a driver for CUDA {}.{} or later",
                            cudaGetErrorString(code), CUDART_VERSION / 1000,
                            CUDART_VERSION % 1000 / 10));
  }
  int driver = 0;
  cudaDriverGetVersion(&driver);
  std::vector<DeviceEntry> devices;
  for (int i = 0; i < count; ++i) {
    DeviceEntry device;
    device.index = i;
    device.name = fmt::format("cuda:{}", i);
    cudaDeviceProp found{};
    check_call(cudaGetDeviceProperties(&found, i), device.name, "look at it");
    device.model = found.name;
    device.driver =
        fmt::format("CUDA {}.{}", driver / 1000, driver % 1000 / 10);
    device.capability = found.major * 10 + found.minor;
    device.compute_units =
        static_cast<std::uint32_t>(found.multiProcessorCount);
    device.description = fmt::format(
        "{}, {} units, {:.1f} GiB, {}", device.model, device.compute_units,
        static_cast<double>(found.totalGlobalMem) / (1 << 30), device.driver);
    devices.push_back(device);
  }
  return devices;
}

std::string unfitness(const DeviceEntry& device) {
  if (device.capability >= kLeastCapability) return {};
  return fmt::format(
      "it is too old: it has compute capability {}.{}, at least {}.{} is "
      "needed; try it as an OpenCL device",
      device.capability / 10, device.capability % 10, kLeastCapability / 10,
      kLeastCapability % 10);
}

std::unique_ptr<GpuDevice> make_device(const DeviceEntry& device) {
  std::string why = unfitness(device);
  if (!why.empty()) {
    throw Error(ErrorKind::unsupported,
                fmt::format("device \"{}\" ({}): {}", device.name,
                            device.description, why));
  }
  return std::make_unique<Device>(device);
}

}  // namespace quorate::cuda

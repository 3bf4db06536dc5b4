// The name of a device in result headers: what trust is bound to. People read
// it too.
#pragma once

#include <string>
#include <string_view>

namespace quorate {

inline constexpr std::size_t kMaxDeviceText = 64;

// "cpu:avx512", or "cuda:0 NVIDIA A100; CUDA 12.4": of printable ASCII, at most
// kMaxDeviceText bytes. name: as --device takes it; model and driver: of a GPU,
// else empty.
std::string device_text(std::string_view name, std::string_view model,
                        std::string_view driver);

// The name in it.
std::string_view name_in(std::string_view device_text);

// The part that stays the same when the driver changes.
std::string_view without_driver(std::string_view device_text);

}  // namespace quorate

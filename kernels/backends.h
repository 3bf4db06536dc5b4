// Which devices this host has, and how to get one.
#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "kernels/backend.h"

namespace quorate {

// The backend of a device: "cpu" (the best instruction set here),
// "cpu:avx512", "cpu:avx2", or "reference" (plain loops, slow; the oracle).
// threads: how many compute, at least 1; the results do not depend on it.
// Throws usage for an unknown name, listing the known; unsupported if this
// host lacks what the device needs, saying what.
std::unique_ptr<Backend> make_backend(std::string_view device,
                                      unsigned threads = 1);

// The devices that work on this host, best first, under their full names.
std::vector<DeviceInfo> list_devices();

}  // namespace quorate

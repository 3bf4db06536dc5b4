// Stored answers of canonical arithmetic (docs/numerics.md, section 11): a
// device that does not give them must not compute.
//
// The worker's self-test calls check_golden before a device's first unit. It is
// what we believe about a device; what the driver reports is only a first
// filter (unfitness in opencl/ and cuda/).
//
// Rejected: comparing within a tolerance. A device that is nearly right would
// make updates that no quorum agrees with, and nobody could tell why.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "kernels/backend.h"

namespace quorate {

// expected and found are FNV-1a hashes (64 bits) of the result's bytes, or the
// bit pattern itself where the result is one number. The device passes if they
// are equal.
struct GoldenResult {
  std::string name;  // "exp", "A^T B", ...
  std::uint64_t expected = 0;
  std::uint64_t found = 0;
};

// Computes every case on the backend; below 100 ms on a fast device. Always the
// same cases in the same order. Throws what the backend throws.
std::vector<GoldenResult> golden_results(Backend& backend);

// The short form for a start-up test: throws unsupported, naming the device
// and the first operation whose answer is wrong.
void check_golden(Backend& backend);

}  // namespace quorate

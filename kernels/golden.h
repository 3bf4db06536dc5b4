// Stored answers of canonical arithmetic (docs/numerics.md, section 11): a
// device that does not give them must not compute.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "kernels/backend.h"

namespace quorate {

struct GoldenResult {
  std::string name;  // "exp", "A^T B", ...
  std::uint64_t expected = 0;
  std::uint64_t found = 0;
};

// Computes every case on the backend; below 100 ms on a fast device.
std::vector<GoldenResult> golden_results(Backend& backend);

// The short form for a start-up test: throws unsupported, naming the device
// and the first operation whose answer is wrong.
void check_golden(Backend& backend);

}  // namespace quorate

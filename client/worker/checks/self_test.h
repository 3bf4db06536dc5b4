// Tasks with known answers: whether a device computes exactly what canonical
// arithmetic says (docs/numerics.md, section 11).
//
// The room client/worker/checks finds out what a device is worth: exact or not
// (here), how fast (bench), and where two devices part (explain, pair_backend).
// It owns nothing and may include client/worker/units.
#pragma once

#include <string>
#include <vector>

#include "kernels/backend.h"

namespace quorate::worker {

struct TestResult {
  std::string name;
  bool passed = false;
  std::string found;  // when it failed: expected and found
};

// Fused rounding, subnormals, zeros, division: a few short operations. For
// every start; below 100 ms.
std::vector<TestResult> test_primitives(Backend& backend);

// Primitives, the golden hash of every operation, and a whole training unit.
std::vector<TestResult> test_device(Backend& backend);

// Throws unsupported, naming device and test, unless the primitives pass.
void require_primitives(Backend& backend);

// What a device must pass before it takes part: the primitives and, for a GPU,
// all golden hashes. Throws as require_primitives().
void require_exact(Backend& backend);

}  // namespace quorate::worker

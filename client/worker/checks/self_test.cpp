#include "client/worker/checks/self_test.h"

#include <fmt/format.h>

#include "client/worker/checks/training_test.h"
#include "kernels/devices/backends.h"
#include "kernels/golden.h"

namespace quorate::worker {

std::vector<TestResult> test_device(Backend& backend) {
  std::vector<TestResult> results = test_primitives(backend);
  for (const GoldenResult& golden : golden_results(backend)) {
    bool passed = golden.found == golden.expected;
    results.push_back({golden.name, passed,
                       passed ? ""
                              : fmt::format("expected {:016x}, found {:016x}",
                                            golden.expected, golden.found)});
  }
  results.push_back(test_training(backend));
  return results;
}

void require_exact(Backend& backend) {
  require_primitives(backend);
  // Nobody wrote the compiler of a GPU's driver with us in mind.
  if (is_gpu(backend.device().name)) check_golden(backend);
}

}  // namespace quorate::worker

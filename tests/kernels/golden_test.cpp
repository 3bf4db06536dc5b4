#include "kernels/golden.h"

#include <functional>

#include <doctest/doctest.h>

#include "base/error.h"
#include "kernels/devices/backends.h"
#include "tests/kernels/inputs.h"

namespace quorate {

TEST_CASE("every device gives the stored answers") {
  for (const test::DeviceCase& on : test::all_devices()) {
    CAPTURE(on.device);
    CAPTURE(on.threads);
    auto backend = make_backend(on.device, on.threads);
    auto results = golden_results(*backend);
    CHECK(results.size() == 32);
    for (const GoldenResult& result : results) {
      CAPTURE(result.name);
      CHECK(result.found == result.expected);
    }
    CHECK_NOTHROW(check_golden(*backend));
  }
}

}  // namespace quorate

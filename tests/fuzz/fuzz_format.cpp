// Feeds a format's reader with whatever libFuzzer thinks of. It may refuse
// bytes as corrupt or unsupported; anything else is a finding.
#include <cstdlib>

#include "base/error.h"
#include "tests/support/formats.h"

namespace {

const quorate::test::Format& format_under_test() {
  static const std::vector<quorate::test::Format> all =
      quorate::test::formats();
  for (const auto& format : all) {
    if (format.name == QUORATE_FUZZ_FORMAT) return format;
  }
  std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data,
                                      std::size_t size) {
  try {
    format_under_test().read({data, size});
  } catch (const quorate::Error& error) {
    quorate::ErrorKind kind = error.kind();
    if (kind != quorate::ErrorKind::corrupt &&
        kind != quorate::ErrorKind::unsupported) {
      std::abort();
    }
  }
  return 0;
}

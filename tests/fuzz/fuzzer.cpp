// libFuzzer on one of the targets:
//   QUORATE_FUZZ_TARGET=http_request quorate_fuzz CORPUS...
// packaging/test.sh --long does so for each.
#include <cstdio>
#include <cstdlib>

#include "tests/fuzz/targets.h"

namespace {

quorate::fuzz::Target chosen_target() {
  const char* name = std::getenv("QUORATE_FUZZ_TARGET");
  for (quorate::fuzz::Target& target : quorate::fuzz::targets()) {
    if (name != nullptr && target.name == name) return target;
  }
  std::fputs("quorate_fuzz: set QUORATE_FUZZ_TARGET to one of:\n", stderr);
  for (const quorate::fuzz::Target& target : quorate::fuzz::targets()) {
    std::fprintf(stderr, "  %s\n", target.name.c_str());
  }
  std::exit(2);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data,
                                      std::size_t size) {
  static const quorate::fuzz::Target target = chosen_target();
  target.read({data, size});
  return 0;
}

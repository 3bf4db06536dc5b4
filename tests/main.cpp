// The entry point of every test program.
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include <doctest/doctest.h>

#if defined(__SANITIZE_ADDRESS__)
#define QUORATE_FINDS_LEAKS
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define QUORATE_FINDS_LEAKS
#endif
#endif

#ifdef QUORATE_FINDS_LEAKS
// PoCL's own threads may still be freeing what they used when a program ends on
// a busy machine. The price: an OpenCL object that we forget goes unreported.
extern "C" const char* __lsan_default_suppressions() {
  return "leak:libpocl\n";
}
#endif

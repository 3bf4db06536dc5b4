// The floating-point mode that canonical arithmetic needs.
//
// ThreadPool, Tasks and every operation of the CPU's and the reference backend
// enter it by themselves. A caller needs it only around canonical arithmetic of
// its own, as in validator/ and workunits/training.
#pragma once

#include <cfenv>

namespace quorate {

// While it lives, this thread rounds to nearest and keeps subnormals (on x86:
// MXCSR with FTZ and DAZ off), whatever a library set before; then the old mode
// is back. The mode belongs to a thread: every thread that computes needs one.
// Entering and leaving takes some tens of cycles: once per operation, not once
// per element. Objects may nest. It must be destroyed on the thread that made
// it.
class CanonicalFloatMode {
 public:
  CanonicalFloatMode() {
    std::fegetenv(&saved_);
    std::fesetenv(FE_DFL_ENV);
  }
  ~CanonicalFloatMode() { std::fesetenv(&saved_); }
  CanonicalFloatMode(const CanonicalFloatMode&) = delete;
  CanonicalFloatMode& operator=(const CanonicalFloatMode&) = delete;

 private:
  // What was there before: also the exception flags.
  std::fenv_t saved_;
};

}  // namespace quorate

// The floating-point mode that canonical arithmetic needs.
#pragma once

#include <cfenv>

namespace quorate {

// While it lives, this thread rounds to nearest and keeps subnormals (on x86:
// MXCSR with FTZ and DAZ off), whatever a library set before; then the old mode
// is back. The mode belongs to a thread: every thread that computes needs one.
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
  std::fenv_t saved_;
};

}  // namespace quorate

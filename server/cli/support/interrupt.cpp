#include "server/cli/support/interrupt.h"

namespace quorate {
namespace {

volatile std::sig_atomic_t requested = 0;

void note(int) {
  requested = 1;
}

}  // namespace

Interrupt::Interrupt() {
  requested = 0;
  old_int_ = std::signal(SIGINT, note);
  old_term_ = std::signal(SIGTERM, note);
}

Interrupt::~Interrupt() {
  std::signal(SIGINT, old_int_);
  std::signal(SIGTERM, old_term_);
}

bool Interrupt::is_requested() const {
  return requested != 0;
}

}  // namespace quorate

#include "client/commands/leaving.h"

#include <signal.h>

namespace quorate::client {
namespace {

// The one mutable global: a signal handler can reach nothing else.
std::atomic<bool> is_told_to_leave{false};
static_assert(std::atomic<bool>::is_always_lock_free);

void on_signal(int) {
  is_told_to_leave = true;
}

}  // namespace

void catch_signals() {
  struct sigaction action {};
  action.sa_handler = on_signal;
  sigemptyset(&action.sa_mask);
  action.sa_flags = static_cast<int>(SA_RESETHAND);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    ::sigaction(signal, &action, nullptr);
  }
}

const std::atomic<bool>& should_leave() {
  return is_told_to_leave;
}

}  // namespace quorate::client

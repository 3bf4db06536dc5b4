// Ctrl-C in a long command that wants to end at a good moment.
#pragma once

#include <csignal>

namespace quorate {

// While there is one (one at a time), SIGINT and SIGTERM only leave a note; the
// handlers from before come back when it is destroyed. For a command's main
// thread.
class Interrupt {
 public:
  Interrupt();
  ~Interrupt();
  Interrupt(const Interrupt&) = delete;
  Interrupt& operator=(const Interrupt&) = delete;

  // True from the first signal on. A second one changes nothing: commands ask
  // often enough.
  bool is_requested() const;

 private:
  void (*old_int_)(int);
  void (*old_term_)(int);
};

}  // namespace quorate

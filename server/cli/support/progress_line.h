// How far a long command is: one line on a terminal that is written over;
// elsewhere, as in a log, a line of its own now and then.
#pragma once

#include <cstdint>
#include <string>

#include "base/clock.h"

namespace quorate {

// Writes to standard error, so that a command's output can be piped. The
// destructor ends the line.
class ProgressLine {
 public:
  ProgressLine();
  ~ProgressLine();
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

  // "what: 45 %"
  void show(const std::string& what, std::uint64_t done, std::uint64_t all);
  // Takes the line's place if it is another text; elsewhere it is written if
  // the last one was ten seconds ago.
  void write(const std::string& text);

 private:
  bool is_terminal_;
  SystemClock clock_;
  Instant written_at_ = clock_.now();
  std::string shown_;
};

}  // namespace quorate

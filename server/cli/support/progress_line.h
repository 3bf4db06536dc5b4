// How far a long command is: one line on a terminal that is written over;
// nothing elsewhere.
#pragma once

#include <cstdint>
#include <string>

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
  // Takes the line's place if it is another text.
  void write(const std::string& text);

 private:
  bool is_terminal_;
  std::string shown_;
};

}  // namespace quorate

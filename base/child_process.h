// A program started as a child, spoken to line by line over its standard input
// and output. It dies with its parent.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/file.h"

namespace quorate {

class ChildProcess {
 public:
  // Start it from a thread that lives as long as it: Linux ties the death of a
  // child to the thread that made it. Starts argv[0] with a pipe on standard
  // input and output; standard error is inherited. niceness: added to the
  // scheduling priority number (0 to 19). Throws io when the program cannot be
  // started.
  explicit ChildProcess(const std::vector<std::string>& argv, int niceness = 0);
  // Kills and reaps it.
  ~ChildProcess();
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;

  // Throws unavailable when the child no longer reads.
  void send_line(const std::string& line);

  enum class Read { line, timeout, closed };
  // The next whole line from the child, without its newline, into `line`.
  // Throws corrupt if a line is longer than 1 MiB.
  Read read_line(std::string& line, Seconds timeout);

  // Readable when a line may be waiting; for poll(2).
  int output_fd() const { return from_child_.get(); }
  int pid() const { return pid_; }
  bool is_running();
  // SIGSTOP and SIGCONT.
  void suspend();
  void resume();
  void kill();

 private:
  int pid_ = -1;
  bool reaped_ = false;
  FileDescriptor to_child_;
  FileDescriptor from_child_;
  std::string buffer_;
};

}  // namespace quorate

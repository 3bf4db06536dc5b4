// A program started as a child, spoken to line by line over its standard input
// and output. It dies with its parent. Of what the parent has, it gets no open
// file and only those settings of the environment that libraries of devices and
// the loader need: no token or address that is meant for the parent.
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
  // input, output and error; what comes from the last goes on to our own.
  // niceness: added to the scheduling priority number (0 to 19). Throws io when
  // the program cannot be started.
  explicit ChildProcess(const std::vector<std::string>& argv, int niceness = 0);
  // Kills and reaps it.
  ~ChildProcess();
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;

  // Throws unavailable when the child no longer reads.
  void send_line(const std::string& line);

  enum class Read { line, timeout, closed };
  // The next whole line from the child, without its newline, into `line`.
  // Throws corrupt if a line is longer than 1 MiB. Standard error is read here,
  // too: a child that is never listened to may wait for us.
  Read read_line(std::string& line, Seconds timeout);

  struct End {
    std::string how;  // "killed by signal 6 (Aborted)"
    // It failed by itself: not by a signal with which others end programs.
    bool is_own_doing = false;
  };
  // Of a child whose output is closed; kills one that goes on regardless.
  End end();
  // The last that it wrote to standard error, at most 1 KiB.
  const std::string& last_words() const { return words_; }

  // Readable when read_line() has something to do; for poll(2).
  int output_fd() const { return sources_.get(); }
  int pid() const { return pid_; }
  bool is_running();
  // SIGSTOP and SIGCONT.
  void suspend();
  void resume();
  void kill();

 private:
  void watch(int fd);
  // Of standard error: returns whether there was any.
  bool take_words();

  int pid_ = -1;
  bool reaped_ = false;
  int status_ = 0;  // of waitpid, once it is reaped
  FileDescriptor to_child_;
  FileDescriptor from_child_;
  FileDescriptor errors_;
  FileDescriptor sources_;  // epoll, of the two before
  std::string buffer_;
  std::string words_;
};

}  // namespace quorate

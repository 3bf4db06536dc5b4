// The service's end of the control socket: runs the commands that come.
#pragma once

#include <atomic>
#include <list>
#include <string>
#include <thread>
#include <vector>

#include "base/file.h"

namespace quorate::client {

struct ControlOptions {
  fs::path socket;
  // What is run for a command: these and then its arguments. The first is a
  // program's path.
  std::vector<std::string> program;
};

class ControlDoor {
 public:
  // Listens from now on; anybody of this machine may connect. Throws io.
  explicit ControlDoor(ControlOptions options);
  // Ends what still runs.
  ~ControlDoor();
  ControlDoor(const ControlDoor&) = delete;
  ControlDoor& operator=(const ControlDoor&) = delete;

 private:
  struct Call {
    std::atomic<bool> is_over{false};
    std::jthread thread;
  };

  void accept_calls(const std::stop_token& stop);
  void answer(int caller, const std::stop_token& stop);

  ControlOptions options_;
  FileDescriptor listener_;
  std::list<Call> calls_;  // the accepting thread's own
  std::jthread thread_;    // last: it uses all of the above
};

}  // namespace quorate::client

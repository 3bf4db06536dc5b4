// The worker's conversation (docs/protocol.md, "Worker"): requests come in,
// jobs run one at a time, replies go out.
//
// client/worker is a program of its own, quorate-worker, and the only one that
// links the kernels: a driver that crashes takes nothing else with it. The room
// itself has its ways to run: under our agent or a server (here, by pipes), or
// under a BOINC client (boinc/). It owns the backend, and may include the rooms
// units/, checks/ and boinc/.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "base/clock.h"
#include "client/worker/inbox.h"
#include "client/worker/units/unit_runner.h"
#include "kernels/backend.h"
#include "protocol/worker/messages.h"

namespace quorate::worker {

struct ServeOptions {
  std::uint32_t cpu_percent = 100;  // duty cycle of the computing, 1 to 100
  // Called once the device has proved itself, before the first unit; returns
  // how far the process is confined. May throw unsupported.
  std::function<std::string()> confine = {};
};

class WorkerServer {
 public:
  // input, output: file descriptors of lines; stay open as long as this.
  WorkerServer(std::unique_ptr<Backend> backend, const ServeOptions& options,
               const Clock& clock, int input, int output);

  // Tests the device, a GPU with all stored answers, says "ready", serves
  // until the input ends. Throws unsupported if the device does not compute
  // exactly, io when it has failed for good, or nobody reads the replies. A
  // failed job is a reply and no exception.
  void run();

 private:
  void answer(const Received& received);
  protocol::WorkerReply work_on(const protocol::WorkerRequest& request,
                                std::uint64_t number);
  void say(const protocol::WorkerReply& reply);

  ServeOptions options_;
  const Clock& clock_;
  int output_;
  std::unique_ptr<Backend> backend_;
  UnitRunner runner_;
  Inbox inbox_;
};

}  // namespace quorate::worker

// A `quorate-worker --serve` process and the conversation with it; the server's
// house workers and the volunteer's agent both drive one of these.
#pragma once

#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "base/child_process.h"
#include "base/clock.h"
#include "base/error.h"
#include "protocol/worker/messages.h"

namespace quorate::protocol {

// Whether a device is driven as a GPU, by its name: OpenCL on a CPU is, too.
bool is_gpu_name(std::string_view device);

struct WorkerOptions {
  std::string program;  // path of quorate-worker
  std::string device = "cpu";
  std::uint32_t threads = 1;
  std::uint32_t cpu_percent = 100;  // duty cycle of the computing
  std::uint32_t memory_mb = 0;      // that it may take; 0: all there is
  std::uint32_t gpu_percent = 100;  // duty cycle of a GPU
  int niceness = 0;
  // The only ones whose files it may read and write; must be there. None: it is
  // not confined.
  std::vector<fs::path> folders = {};
  // It serves only if the system confines it wholly.
  bool must_be_confined = false;
  // A busy worker reports progress several times a second. One that says
  // nothing for so long hangs: whoever drives it kills it and starts another.
  // Long, because a step of a large model on a slow, busy machine takes
  // minutes.
  Seconds silence{600};

  bool operator==(const WorkerOptions&) const = default;
};

// Lives for many jobs, one at a time. Used by one thread, which outlives it.
class WorkerProcess {
 public:
  // Starts the process and waits for its WorkerReady. Throws unsupported with
  // the worker's words when the device cannot serve, unavailable when the
  // process ends or stays silent for 30 s (a GPU, whose driver may have to
  // compile: 5 minutes) or `stop` is requested, io when it cannot be started.
  explicit WorkerProcess(const WorkerOptions& options,
                         const std::stop_token& stop = {});

  const WorkerReady& ready() const { return ready_; }
  void send(const WorkerRequest& request);
  // The next message, or nullopt after `timeout`. Throws unavailable when the
  // process has ended, with how and its last words; corrupt for a message that
  // is none.
  std::optional<WorkerReply> receive(Seconds timeout);
  // The process failed by itself while it was listened to: a signal such as
  // SIGABRT or SIGSEGV, or an exit status. If it computed, the unit may be why.
  bool has_aborted() const { return has_aborted_; }

  int output_fd() const { return process_->output_fd(); }
  int pid() const { return process_->pid(); }
  void suspend() { process_->suspend(); }
  void resume() { process_->resume(); }
  void kill() { process_->kill(); }

 private:
  std::optional<WorkerReply> first_reply(Seconds timeout,
                                         const std::stop_token& stop);

  [[noreturn]] void throw_end();

  std::unique_ptr<ChildProcess> process_;
  WorkerReady ready_;
  bool has_aborted_ = false;
};

// What a worker that says nothing for options.silence fails with: unavailable.
Error hang_of(const WorkerOptions& options);

// The path of quorate-worker: beside the running program, else in
// ../libexec/quorate, else on PATH. Throws io, saying where it looked.
std::string find_worker_program();

}  // namespace quorate::protocol

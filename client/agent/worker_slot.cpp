#include "client/agent/worker_slot.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/log.h"
#include "base/retry.h"
#include "client/machine/settings.h"

namespace quorate::client {
namespace {

bool ends_a_job(const protocol::WorkerReply& reply) {
  return std::holds_alternative<protocol::ComputeDone>(reply) ||
         std::holds_alternative<protocol::WorkerStopped>(reply) ||
         std::holds_alternative<protocol::WorkerFailed>(reply);
}

// Of poll(), rounded up.
int milliseconds(Seconds time) {
  return static_cast<int>(std::ceil(time.count() * 1000));
}

void drain(int event_fd) {
  std::uint64_t count = 0;
  // Fails when nothing was written, which is as good.
  [[maybe_unused]] ssize_t got = ::read(event_fd, &count, sizeof count);
}

}  // namespace

WorkerSlot::WorkerSlot(protocol::WorkerOptions options, Mailbox& mailbox,
                       std::function<void(const WorkerEvent&)> on_event,
                       Seconds stop_patience)
    : mailbox_(mailbox),
      on_event_(std::move(on_event)),
      wakeup_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
      options_(std::move(options)),
      stop_patience_(stop_patience) {
  if (!wakeup_) throw_errno("eventfd");
  thread_ =
      std::jthread([this](const std::stop_token& stop) { keep_running(stop); });
}

WorkerSlot::~WorkerSlot() {
  begin_to_leave();
}

void WorkerSlot::begin_to_leave() {
  thread_.request_stop();
  wake();
}

void WorkerSlot::send(protocol::WorkerRequest request) {
  {
    std::lock_guard lock(mutex_);
    requests_.push_back(std::move(request));
  }
  wake();
}

void WorkerSlot::restart(protocol::WorkerOptions options) {
  {
    std::lock_guard lock(mutex_);
    options_ = std::move(options);
    is_restart_wanted_ = true;
  }
  wake();
}

protocol::WorkerOptions WorkerSlot::take_options() {
  std::lock_guard lock(mutex_);
  is_restart_wanted_ = false;
  return options_;
}

void WorkerSlot::wake() {
  std::uint64_t one = 1;
  [[maybe_unused]] ssize_t put = ::write(wakeup_.get(), &one, sizeof one);
}

void WorkerSlot::keep_running(const std::stop_token& stop) {
  std::uint32_t failures = 0;
  while (!stop.stop_requested()) {
    std::optional<protocol::WorkerProcess> worker;
    try {
      // A copy: restart() changes the slot's own at any time.
      const protocol::WorkerOptions options = take_options();
      worker.emplace(options, stop);
      pid_ = worker->pid();
      forget_requests();
      tell(protocol::WorkerReply(worker->ready()));
      converse(*worker, options, stop);
      tell(WorkerRestarted{});
    } catch (const Error& e) {
      const bool has_aborted = worker && worker->has_aborted();
      worker.reset();
      tell(WorkerEnded{e.kind(), e.what(), has_aborted});
      pid_ = 0;
      wait_before_restart(++failures, stop);
    }
    pid_ = 0;
    is_busy_ = false;
    stop_by_.reset();
  }
}

void WorkerSlot::wait_before_restart(std::uint32_t attempt,
                                     const std::stop_token& stop) {
  auto seed = static_cast<std::uint64_t>(::getpid());
  std::unique_lock lock(mutex_);
  changed_.wait_for(lock, stop, retry_delay(attempt, seed),
                    [] { return false; });
}

void WorkerSlot::converse(protocol::WorkerProcess& worker,
                          const protocol::WorkerOptions& options,
                          const std::stop_token& stop) {
  SystemClock clock;
  Instant heard = clock.now();
  while (!stop.stop_requested() && !is_restart_wanted_) {
    bool was_busy = is_busy_;
    while (forward_request(worker)) {
    }
    bool has_spoken = false;
    while (forward_reply(worker, Seconds(0))) has_spoken = true;
    if (has_spoken || !was_busy) heard = clock.now();
    Seconds left = give_up_at(heard, options) - clock.now();
    if (is_busy_ && left <= Seconds(0)) {
      if (!stop_by_) throw protocol::hang_of(options);
      log_info("worker_ended_in_a_step", {{"device", options.device}});
      return;
    }
    pollfd sources[] = {{worker.output_fd(), POLLIN, 0},
                        {wakeup_.get(), POLLIN, 0}};
    ::poll(sources, 2, is_busy_ ? milliseconds(left) : -1);
    // Here, so that whatever woke it is looked at before the next poll.
    drain(wakeup_.get());
  }
  if (is_busy_) end_job(worker);
}

Instant WorkerSlot::give_up_at(Instant heard,
                               const protocol::WorkerOptions& options) const {
  const Instant hangs = heard + options.silence;
  return stop_by_ ? std::min(*stop_by_, hangs) : hangs;
}

void WorkerSlot::end_job(protocol::WorkerProcess& worker) {
  worker.send(protocol::StopRequest{});
  SystemClock clock;
  Instant deadline = clock.now() + kStopTime;
  while (is_busy_ && clock.now() < deadline) {
    forward_reply(worker, deadline - clock.now());
  }
}

// Those that were meant for a worker that has ended.
void WorkerSlot::forget_requests() {
  std::lock_guard lock(mutex_);
  requests_.clear();
}

// Returns whether there was one.
bool WorkerSlot::forward_request(protocol::WorkerProcess& worker) {
  protocol::WorkerRequest request;
  {
    std::lock_guard lock(mutex_);
    if (requests_.empty()) return false;
    request = std::move(requests_.front());
    requests_.pop_front();
  }
  if (!std::holds_alternative<protocol::StopRequest>(request)) {
    is_busy_ = true;
    stop_by_.reset();
  } else if (is_busy_ && !stop_by_) {
    stop_by_ = SystemClock().now() + stop_patience_;
  }
  worker.send(request);
  return true;
}

// Returns whether there was one.
bool WorkerSlot::forward_reply(protocol::WorkerProcess& worker,
                               Seconds patience) {
  std::optional<protocol::WorkerReply> reply = worker.receive(patience);
  if (!reply) return false;
  if (ends_a_job(*reply)) is_busy_ = false;
  tell(std::move(*reply));
  return true;
}

void WorkerSlot::tell(WorkerEvent event) {
  mailbox_.post(
      [handler = on_event_, event = std::move(event)] { handler(event); });
}

}  // namespace quorate::client

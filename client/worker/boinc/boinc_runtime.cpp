#include "client/worker/boinc/boinc_runtime.h"

#include <cerrno>

#include <signal.h>
#include <sys/resource.h>

namespace quorate::worker {
namespace {

constexpr std::chrono::milliseconds kLook{100};
constexpr Seconds kStatusInterval{1};
constexpr Seconds kClientInterval{10};

double process_cpu_seconds() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) +
           static_cast<double>(time.tv_usec) * 1e-6;
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

}  // namespace

BoincRuntime::BoincRuntime(const boinc::InitData& init_data,
                           BoincChannels& channels, const Clock& clock)
    : init_data_(init_data),
      channels_(channels),
      clock_(clock),
      control_(clock.now()),
      last_checkpoint_(clock.now()),
      last_looked_(clock.now()) {
  // What earlier starts computed is in the checkpoint.
  status_.checkpoint_cpu_seconds = init_data.cpu_seconds;
  thread_ = std::thread([this] { listen(); });
}

BoincRuntime::~BoincRuntime() {
  {
    std::lock_guard lock(mutex_);
    is_over_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void BoincRuntime::step_done(std::uint32_t step, std::uint32_t steps) {
  {
    std::lock_guard lock(mutex_);
    status_.fraction_done = steps == 0 ? 0 : static_cast<double>(step) / steps;
    if (has_saved_) {
      status_.checkpoint_cpu_seconds =
          init_data_.cpu_seconds + process_cpu_seconds();
    }
  }
  has_saved_ = false;
  wait_while_suspended();
}

bool BoincRuntime::should_stop() {
  wait_while_suspended();
  return state() != BoincState::running;
}

bool BoincRuntime::is_checkpoint_due() {
  Instant now = clock_.now();
  if (now - last_checkpoint_ < init_data_.checkpoint_period) return false;
  last_checkpoint_ = now;
  has_saved_ = true;
  return true;
}

BoincState BoincRuntime::state() const {
  std::lock_guard lock(mutex_);
  return control_.state(clock_.now());
}

void BoincRuntime::wait_while_suspended() {
  std::unique_lock lock(mutex_);
  while (control_.state(clock_.now()) == BoincState::suspended) {
    changed_.wait_for(lock, kLook);
  }
}

void BoincRuntime::listen() {
  std::unique_lock lock(mutex_);
  while (!is_over_) {
    Instant now = clock_.now();
    hear(now);
    look_for_client(now);
    tell(now);
    changed_.notify_all();
    changed_.wait_for(lock, kLook, [this] { return is_over_; });
  }
}

void BoincRuntime::hear(Instant now) {
  if (auto text = channels_.receive(BoincChannel::orders)) {
    control_.take(boinc::parse_process_orders(*text), now);
  }
  if (channels_.receive(BoincChannel::heartbeat)) control_.take_heartbeat(now);
}

// A client that was killed says nothing; with it gone, nobody would stop us.
void BoincRuntime::look_for_client(Instant now) {
  if (init_data_.client_pid == 0 || now - last_looked_ < kClientInterval) {
    return;
  }
  last_looked_ = now;
  auto pid = static_cast<pid_t>(init_data_.client_pid);
  if (::kill(pid, 0) != 0 && errno == ESRCH) control_.client_is_gone();
}

void BoincRuntime::tell(Instant now) {
  if (now - last_told_ < kStatusInterval) return;
  status_.cpu_seconds = init_data_.cpu_seconds + process_cpu_seconds();
  // A client that is busy has not taken the last one: the next look tries anew.
  if (channels_.send(BoincChannel::status, boinc::write(status_))) {
    last_told_ = now;
  }
}

}  // namespace quorate::worker

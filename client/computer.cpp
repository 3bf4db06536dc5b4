#include "client/computer.h"

#include <algorithm>

#include "base/log.h"

namespace quorate::client {
namespace {

std::uint64_t job_of(const protocol::WorkerReply& reply) {
  return std::visit(
      [](const auto& message) -> std::uint64_t {
        if constexpr (requires { message.job; }) {
          return message.job;
        } else {
          return 0;
        }
      },
      reply);
}

}  // namespace

Computer::Computer(const protocol::WorkerOptions& options, std::uint32_t count,
                   Mailbox& mailbox, Listener listener)
    : options_(options), listener_(std::move(listener)), slots_(count) {
  for (std::size_t i = 0; i < slots_.size(); ++i) {
    slots_[i].worker = std::make_unique<WorkerSlot>(
        options, mailbox,
        [this, i](const WorkerEvent& event) { on_event(i, event); });
  }
}

Computer::~Computer() {
  for (Slot& slot : slots_) slot.worker->begin_to_leave();
}

void Computer::set_limits(const Orders& orders) {
  protocol::WorkerOptions wanted = options_;
  wanted.threads = orders.threads;
  wanted.cpu_percent = orders.cpu_percent;
  wanted.gpu_percent = orders.gpu_percent;
  wanted.memory_mb = orders.memory_mb;
  if (wanted == options_) return;
  options_ = wanted;
  for (Slot& slot : slots_) {
    slot.is_ready = false;
    slot.worker->restart(options_);
  }
}

std::vector<int> Computer::pids() const {
  std::vector<int> pids;
  for (const Slot& slot : slots_) {
    if (int pid = slot.worker->pid(); pid != 0) pids.push_back(pid);
  }
  return pids;
}

bool Computer::is_free() const {
  return std::any_of(slots_.begin(), slots_.end(), [](const Slot& slot) {
    return slot.is_ready && slot.result == 0;
  });
}

const protocol::WorkerReady* Computer::ready() const {
  return ready_ ? &*ready_ : nullptr;
}

void Computer::start(ResultId result, protocol::ComputeRequest request,
                     double step_operations) {
  auto slot =
      std::find_if(slots_.begin(), slots_.end(), [](const Slot& candidate) {
        return candidate.is_ready && candidate.result == 0;
      });
  check(slot != slots_.end(), "a task is started when a worker is free");
  slot->result = result;
  slot->job = ++last_job_;
  slot->step_operations = step_operations;
  request.job = slot->job;
  slot->worker->send(std::move(request));
}

void Computer::stop(ResultId result) {
  for (Slot& slot : slots_) {
    if (slot.result == result) slot.worker->send(protocol::StopRequest{});
  }
}

void Computer::on_event(std::size_t index, const WorkerEvent& event) {
  Slot& slot = slots_[index];
  if (const auto* ended = std::get_if<WorkerEnded>(&event)) {
    on_ended(slot, *ended);
  } else if (std::holds_alternative<WorkerRestarted>(event)) {
    slot.is_ready = false;
    if (slot.result != 0) finish(slot, Stopped{});
  } else {
    on_reply(slot, std::get<protocol::WorkerReply>(event));
  }
}

void Computer::on_ended(Slot& slot, const WorkerEnded& ended) {
  log_warning("worker_ended", {{"why", ended.why}});
  slot.is_ready = false;
  // Neither passes by waiting: the device cannot serve, or there is no worker
  // program to start.
  if (ended.kind == ErrorKind::unsupported || ended.kind == ErrorKind::io) {
    broken_ = Error(ended.kind, ended.why);
  }
  if (slot.result != 0) finish(slot, Lost{ended.why});
}

void Computer::on_reply(Slot& slot, const protocol::WorkerReply& reply) {
  if (const auto* ready = std::get_if<protocol::WorkerReady>(&reply)) {
    slot.is_ready = true;
    ready_ = *ready;
    log_info("worker_ready", {{"device", ready->device}});
    return;
  }
  if (slot.result == 0 || job_of(reply) != slot.job) return;  // of the past
  if (const auto* step = std::get_if<protocol::WorkerProgress>(&reply)) {
    listener_(slot.result, Stepped{step->step, step->steps});
  } else if (const auto* done = std::get_if<protocol::ComputeDone>(&reply)) {
    on_done(slot, *done);
  } else if (std::holds_alternative<protocol::WorkerStopped>(reply)) {
    finish(slot, Stopped{});
  } else if (const auto* failed = std::get_if<protocol::WorkerFailed>(&reply)) {
    finish(slot, Refused{failed->kind, failed->why});
  }
}

void Computer::on_done(Slot& slot, const protocol::ComputeDone& done) {
  if (done.seconds > 0 && done.steps > 0) {
    speed_flops_ = slot.step_operations * done.steps / done.seconds;
  }
  finish(slot, Computed{done.claim});
}

void Computer::finish(Slot& slot, const ComputeNews& news) {
  ResultId result = slot.result;
  slot.result = 0;
  slot.job = 0;
  listener_(result, news);
}

}  // namespace quorate::client

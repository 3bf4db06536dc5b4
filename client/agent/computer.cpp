#include "client/agent/computer.h"

#include <algorithm>

#include "base/log.h"
#include "workunits/device_text.h"

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

// The orders as they concern the worker's device.
protocol::WorkerOptions limited(protocol::WorkerOptions options,
                                const Orders& orders) {
  if (protocol::is_gpu_name(options.device)) {
    options.gpu_percent = orders.gpu_percent;
  } else {
    options.threads = orders.threads;
    options.cpu_percent = orders.cpu_percent;
  }
  options.memory_mb = orders.memory_mb;
  options.must_be_confined = orders.requires_sandbox;
  return options;
}

}  // namespace

Computer::Computer(const std::vector<protocol::WorkerOptions>& workers,
                   Mailbox& mailbox, Listener listener, Seconds stop_patience)
    : listener_(std::move(listener)), slots_(workers.size()) {
  for (std::size_t i = 0; i < slots_.size(); ++i) {
    slots_[i].options = workers[i];
    slots_[i].worker = std::make_unique<WorkerSlot>(
        workers[i], mailbox,
        [this, i](const WorkerEvent& event) { on_event(i, event); },
        stop_patience);
  }
}

Computer::~Computer() {
  for (Slot& slot : slots_) {
    if (slot.worker) slot.worker->begin_to_leave();
  }
}

void Computer::set_limits(const Orders& orders) {
  for (Slot& slot : slots_) {
    protocol::WorkerOptions wanted = limited(slot.options, orders);
    if (!slot.worker || wanted == slot.options) continue;
    slot.options = wanted;
    slot.is_ready = false;
    slot.speed_flops = 0;  // of other threads, or another share of the time
    slot.worker->restart(wanted);
  }
}

std::vector<int> Computer::pids() const {
  std::vector<int> pids;
  for (const Slot& slot : slots_) {
    int pid = slot.worker ? slot.worker->pid() : 0;
    if (pid != 0) pids.push_back(pid);
  }
  return pids;
}

std::vector<DeviceWorkers> Computer::devices() const {
  std::vector<DeviceWorkers> devices;
  for (const Slot& slot : slots_) {
    if (!slot.worker) continue;
    auto found = std::find_if(
        devices.begin(), devices.end(),
        [&](const auto& one) { return one.device == slot.options.device; });
    if (found == devices.end()) {
      found = devices.insert(found, {slot.options.device});
    }
    ++found->workers;
    found->is_ready = found->is_ready || slot.ready;
    found->speed_flops = std::max(found->speed_flops, slot.speed_flops);
  }
  return devices;
}

double Computer::speed_of(const std::string& device) const {
  for (const DeviceWorkers& one : devices()) {
    if (one.device == device) return one.speed_flops;
  }
  return 0;
}

void Computer::forget_speed(const std::string& device) {
  for (Slot& slot : slots_) {
    if (slot.options.device == device) slot.speed_flops = 0;
  }
}

std::vector<std::string> Computer::names() const {
  std::vector<std::string> names;
  for (const Slot& slot : slots_) {
    if (slot.worker && slot.ready) {
      names.emplace_back(name_in(slot.ready->device));
    }
  }
  return names;
}

std::string Computer::confinement() const {
  std::string whole;
  for (const Slot& slot : slots_) {
    if (!slot.worker || !slot.ready) continue;
    whole = slot.ready->confinement;
    if (whole != protocol::kConfined) break;
  }
  return whole;
}

// A task whose device is not among ours, or not known after a restart, is
// anybody's. slots_.size(): none.
std::size_t Computer::slot_for(const Task& task) const {
  bool is_bound =
      std::any_of(slots_.begin(), slots_.end(), [&](const Slot& slot) {
        return slot.worker && slot.options.device == task.device;
      });
  auto found = std::find_if(slots_.begin(), slots_.end(), [&](const Slot& s) {
    return s.is_ready && s.result == 0 &&
           (!is_bound || s.options.device == task.device);
  });
  return static_cast<std::size_t>(found - slots_.begin());
}

bool Computer::is_free_for(const Task& task) const {
  return slot_for(task) < slots_.size();
}

void Computer::start(Task& task, protocol::ComputeRequest request,
                     double step_operations) {
  std::size_t index = slot_for(task);
  check(index < slots_.size(), "a task is started when a worker is free");
  Slot& slot = slots_[index];
  task.device = slot.options.device;
  slot.result = task.id();
  slot.job = ++last_job_;
  slot.step_operations = step_operations;
  request.job = slot.job;
  slot.worker->send(std::move(request));
}

void Computer::stop(ResultId result) {
  for (Slot& slot : slots_) {
    if (slot.result == result && slot.worker)
      slot.worker->send(protocol::StopRequest{});
  }
}

void Computer::on_event(std::size_t index, const WorkerEvent& event) {
  Slot& slot = slots_[index];
  if (!slot.worker) return;  // said before it was given up
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
  slot.is_ready = false;
  // Neither passes by waiting: the device cannot serve, or there is no worker
  // program to start.
  if (ended.kind == ErrorKind::unsupported || ended.kind == ErrorKind::io) {
    give_up(slot, ended);
  } else {
    log_warning("worker_ended",
                {{"device", slot.options.device}, {"why", ended.why}});
  }
  if (slot.result != 0) finish(slot, Lost{ended.why, ended.has_aborted});
}

void Computer::give_up(Slot& slot, const WorkerEnded& ended) {
  log_warning("device_given_up",
              {{"device", slot.options.device}, {"why", ended.why}});
  slot.worker.reset();
  given_up_.push_back(ended.why);
  bool is_last = std::none_of(slots_.begin(), slots_.end(), [](const Slot& s) {
    return static_cast<bool>(s.worker);
  });
  if (is_last) broken_ = Error(ended.kind, ended.why);
}

void Computer::on_reply(Slot& slot, const protocol::WorkerReply& reply) {
  if (const auto* ready = std::get_if<protocol::WorkerReady>(&reply)) {
    slot.is_ready = true;
    slot.ready = *ready;
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
    slot.speed_flops = slot.step_operations * done.steps / done.seconds;
  }
  finish(slot, Computed{done.claim, *slot.ready});
}

void Computer::finish(Slot& slot, const ComputeNews& news) {
  ResultId result = slot.result;
  slot.result = 0;
  slot.job = 0;
  listener_(result, news);
}

}  // namespace quorate::client

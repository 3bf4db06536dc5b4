#include "client/machine/find_devices.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/child_process.h"
#include "base/error.h"
#include "base/log.h"
#include "client/machine/device_choice.h"
#include "client/machine/device_speeds.h"
#include "client/machine/settings.h"
#include "protocol/worker/reports.h"

namespace quorate::client {
namespace {

// The first line that can be an answer: drivers print, too.
std::string answer_of(const DeviceQuestion& question,
                      std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), question.program);
  ChildProcess child(arguments, kWorkerNiceness);
  Instant end = question.clock.now() + question.patience;
  while (!question.should_leave && question.clock.now() < end) {
    std::string line;
    ChildProcess::Read read = child.read_line(line, kTick);
    if (read == ChildProcess::Read::closed) {
      throw Error(ErrorKind::unavailable, "it ended without an answer");
    }
    if (read == ChildProcess::Read::line && line.starts_with('{')) return line;
  }
  throw Error(
      ErrorKind::unavailable,
      fmt::format("it gave no answer within {} s", question.patience.count()));
}

double speed_of(const DeviceQuestion& question, const MeasuredWith& with) {
  std::vector<std::string> arguments{
      "--bench",
      "--quick",
      "--json",
      "--device",
      with.device,
      "--threads",
      std::to_string(std::max(1U, with.threads))};
  protocol::BenchReport report =
      protocol::parse_bench_report(answer_of(question, arguments));
  if (!report.failure.empty()) {
    throw Error(ErrorKind::unsupported, report.failure);
  }
  if (report.cases.empty() || report.cases[0].value <= 0) {
    throw Error(ErrorKind::corrupt, "its answer has no speed");
  }
  return report.cases[0].value;
}

Measurement measure(const DeviceQuestion& question, const MeasuredWith& with) {
  Measurement measurement{with, 0, {}, question.clock.unix_ms()};
  log_info("measuring_device", {{"device", with.device}});
  try {
    measurement.gflops = speed_of(question, with);
    log_info("device_measured",
             {{"device", with.device},
              {"gflops", fmt::format("{:.1f}", measurement.gflops)}});
  } catch (const Error& e) {
    measurement.failure = fmt::format("measure its speed: {}", e.what());
  }
  return measurement;
}

// The measurement that is kept, or a new one.
Measurement speed_known(const DeviceQuestion& question, DeviceSpeeds& speeds,
                        const MeasuredWith& with) {
  if (const Measurement* kept = speeds.find(with, question.clock.unix_ms())) {
    return *kept;
  }
  Measurement fresh = measure(question, with);
  if (question.should_leave) return fresh;  // it may have been cut short
  speeds.add(fresh);
  try {
    save_speeds(question.kept, speeds);
  } catch (const Error& e) {
    log_warning("speed_not_kept", {{"why", e.what()}});
  }
  return fresh;
}

FoundDevice look_at(const DeviceQuestion& question, DeviceSpeeds& speeds,
                    const protocol::DeviceReport& device,
                    std::uint32_t threads) {
  Measurement speed =
      speed_known(question, speeds, {device.name, device.description, threads});
  if (!speed.failure.empty()) {
    log_warning("device_left_out",
                {{"device", device.name}, {"why", speed.failure}});
  }
  return {device.name, device.model, device.is_gpu, speed.gflops};
}

// "cpu" stands for the best of its kinds, which is listed first.
protocol::DeviceReport cpu_of(const protocol::DeviceList& list) {
  for (const protocol::DeviceReport& device : list.devices) {
    if (device.name.starts_with("cpu:")) return {"cpu", device.description};
  }
  return {"cpu", ""};
}

std::vector<std::string> choose_of(const DeviceQuestion& question,
                                   const protocol::DeviceList& list) {
  DeviceSpeeds speeds = load_speeds(question.kept, list.program);
  std::vector<FoundDevice> found{
      look_at(question, speeds, cpu_of(list), question.cores)};
  for (const protocol::DeviceReport& device : list.devices) {
    if (question.should_leave) break;
    // Also saves the time to compile for it twice.
    FoundDevice named{device.name, device.model, device.is_gpu};
    bool is_known =
        std::any_of(found.begin(), found.end(), [&](const auto& other) {
          return other.gflops > 0 && is_same_gpu(other, named);
        });
    if (!device.is_gpu || is_known) continue;
    found.push_back(look_at(question, speeds, device, 0));
  }
  std::vector<std::string> chosen = choose_devices(found, question.cores);
  for (const FoundDevice& device : found) {
    bool is_chosen =
        std::find(chosen.begin(), chosen.end(), device.name) != chosen.end();
    if (is_chosen || !device.is_gpu || device.gflops <= 0) continue;
    log_info("device_not_chosen",
             {{"device", device.name}, {"why", "the CPU is faster"}});
  }
  return chosen;
}

}  // namespace

std::vector<std::string> find_devices(const DeviceQuestion& question) {
  protocol::DeviceList list;
  try {
    list = protocol::parse_device_list(
        answer_of(question, {"--list-devices", "--json"}));
  } catch (const Error& e) {
    log_warning("devices_unknown", {{"why", e.what()}, {"then", "the CPU"}});
    return {"cpu"};
  }
  for (const std::string& why : list.refused) {
    log_info("device_refused", {{"why", why}});
  }
  bool has_gpu = std::any_of(list.devices.begin(), list.devices.end(),
                             [](const auto& device) { return device.is_gpu; });
  return has_gpu ? choose_of(question, list) : std::vector<std::string>{"cpu"};
}

}  // namespace quorate::client

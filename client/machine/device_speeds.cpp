#include "client/machine/device_speeds.h"

#include <algorithm>
#include <cstdlib>

#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/json_fields.h"
#include "base/log.h"

namespace quorate::client {
namespace {

using Json = nlohmann::ordered_json;

constexpr int kVersion = 1;
constexpr JsonLimits kLimits{256 << 10, 4};
constexpr std::size_t kMost = 64;  // devices of one computer
constexpr std::size_t kMostText = 1024;
constexpr std::int64_t kTrustFailureMs = 86'400'000;

Json to_json(const Measurement& measurement) {
  return {{"device", measurement.with.device},
          {"description", measurement.with.description},
          {"threads", measurement.with.threads},
          {"gflops", measurement.gflops},
          {"failure", measurement.failure},
          {"time", measurement.time}};
}

Measurement read_measurement(const nlohmann::json& json) {
  JsonFields fields(json, "measurement");
  Measurement measurement;
  measurement.with.device = fields.text("device", kMostText);
  measurement.with.description = fields.text("description", kMostText);
  measurement.with.threads = fields.integer32("threads");
  measurement.gflops = fields.number("gflops");
  measurement.failure = fields.text("failure", kMostText);
  measurement.time = static_cast<std::int64_t>(fields.integer("time"));
  return measurement;
}

}  // namespace

const Measurement* DeviceSpeeds::find(const MeasuredWith& with,
                                      std::int64_t unix_ms) const {
  auto found =
      std::find_if(all_.begin(), all_.end(),
                   [&](const Measurement& m) { return m.with == with; });
  if (found == all_.end()) return nullptr;
  // In either direction: the clock may have been wrong.
  bool is_old = std::abs(unix_ms - found->time) > kTrustFailureMs;
  return !found->failure.empty() && is_old ? nullptr : &*found;
}

void DeviceSpeeds::add(Measurement measurement) {
  std::erase_if(all_, [&](const Measurement& known) {
    return known.with.device == measurement.with.device;
  });
  if (all_.size() >= kMost) all_.erase(all_.begin());
  all_.push_back(std::move(measurement));
}

std::string write_speeds(const DeviceSpeeds& speeds) {
  Json all = Json::array();
  for (const Measurement& measurement : speeds.all()) {
    all.push_back(to_json(measurement));
  }
  return Json{{"version", kVersion},
              {"program", speeds.program()},
              {"measured", std::move(all)}}
             .dump(1, ' ', false, Json::error_handler_t::replace) +
         "\n";
}

DeviceSpeeds parse_speeds(const std::string& text) {
  nlohmann::json json = parse_json(text, kLimits, "device speeds");
  JsonFields fields(json, "device speeds");
  fields.integer("version", kVersion, kVersion);
  DeviceSpeeds speeds(fields.text("program", kMostText));
  for (const nlohmann::json& measurement : fields.array("measured")) {
    speeds.add(read_measurement(measurement));
  }
  return speeds;
}

DeviceSpeeds load_speeds(const fs::path& file, const std::string& program) {
  try {
    if (!fs::exists(file)) return DeviceSpeeds(program);
    DeviceSpeeds kept = parse_speeds(read_text_file(file, kLimits.bytes));
    if (kept.program() == program) return kept;
  } catch (const Error& e) {
    log_warning("devices_measured_anew",
                {{"file", file.string()}, {"why", e.what()}});
  }
  return DeviceSpeeds(program);
}

void save_speeds(const fs::path& file, const DeviceSpeeds& speeds) {
  write_file_durably(file, as_bytes(write_speeds(speeds)), 0600);
}

}  // namespace quorate::client

// How fast the devices of this computer were when they were measured:
// devices.json of the data folder, so that it is done once for a device and its
// driver. Nothing depends on the file; one that makes no sense is measured
// anew.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/file.h"

namespace quorate::client {

// What a measurement was made with; another driver or number of threads makes
// it worthless.
struct MeasuredWith {
  std::string device;
  std::string description;    // with the driver's version
  std::uint32_t threads = 0;  // of a CPU; 0: a GPU

  bool operator==(const MeasuredWith&) const = default;
};
struct Measurement {
  MeasuredWith with;
  double gflops = 0;
  std::string failure;    // why it may not compute; empty: it may
  std::int64_t time = 0;  // ms since 1970

  bool operator==(const Measurement&) const = default;
};

class DeviceSpeeds {
 public:
  // program: the version of the worker, whose kernels were measured.
  explicit DeviceSpeeds(std::string program) : program_(std::move(program)) {}

  // The measurement to go by; null: there is none, or only a failure of more
  // than a day ago, for that may have had a passing reason.
  const Measurement* find(const MeasuredWith& with, std::int64_t unix_ms) const;
  // Takes the place of what is known of the device.
  void add(Measurement measurement);

  const std::string& program() const { return program_; }
  const std::vector<Measurement>& all() const { return all_; }

 private:
  std::string program_;
  std::vector<Measurement> all_;
};

// The text of devices.json. Throws corrupt for anything else.
std::string write_speeds(const DeviceSpeeds& speeds);
DeviceSpeeds parse_speeds(const std::string& text);

// None when there is no file, a damaged one (which is logged), or one of
// another version of the program.
DeviceSpeeds load_speeds(const fs::path& file, const std::string& program);
// Throws io.
void save_speeds(const fs::path& file, const DeviceSpeeds& speeds);

}  // namespace quorate::client

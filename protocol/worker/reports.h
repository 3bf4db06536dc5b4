// What `quorate-worker --list-devices --json` and `--bench --json` print.
#pragma once

#include <string>
#include <vector>

namespace quorate::protocol {

struct DeviceReport {
  std::string name;  // what --device takes
  std::string description;
};
struct BenchReport {
  std::string name;  // "matmul 1024x1024x1024"
  double value = 0;
  std::string unit;  // "Gflop/s"
};

// A list of objects: {"name", "description"}; {"case", "value", "unit"}.
std::string write(const std::vector<DeviceReport>& devices);
std::string write(const std::vector<BenchReport>& rows);

}  // namespace quorate::protocol

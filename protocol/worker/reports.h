// What `quorate-worker --list-devices --json` and `--bench --json` print: one
// line each. docs/protocol.md, "Worker".
#pragma once

#include <string>
#include <vector>

namespace quorate::protocol {

struct DeviceReport {
  std::string name;         // what --device takes
  std::string description;  // for people, with the driver's version
  std::string model = {};   // of a GPU, the same through CUDA and OpenCL
  bool is_gpu = false;      // a real one
};
struct DeviceList {
  std::string program;  // version of the worker
  std::vector<DeviceReport> devices;
  std::vector<std::string> refused;  // why others are not there, in sentences
};
struct BenchCase {
  std::string name;  // "matmul 1024x1024x1024"
  double value = 0;
  std::string unit;  // "Gflop/s"
};
struct BenchReport {
  std::vector<BenchCase> cases;
  std::string failure;  // why the device cannot compute; empty: it can
};

std::string write(const DeviceList& list);
std::string write(const BenchReport& report);

// Throw corrupt for anything else.
DeviceList parse_device_list(const std::string& line);
BenchReport parse_bench_report(const std::string& line);

}  // namespace quorate::protocol

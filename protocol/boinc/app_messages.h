// What a BOINC client and a task that it runs say to each other: init_data.xml,
// written for the task before it starts, and the texts in the channels of their
// shared file (client/worker/boinc/boinc_channels). The client is trusted as
// the machine's owner is; its files are bounded all the same.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/bytes.h"
#include "base/clock.h"
#include "workunits/host.h"

namespace quorate::boinc {

// What the client says of the task when it starts it.
struct InitData {
  std::string workunit;
  std::string result;
  std::string project_dir;  // where the project's files are, for all its tasks
  HostId hostid = 0;
  std::int64_t client_pid = 0;
  double cpu_seconds = 0;           // spent on the task before this start
  Seconds checkpoint_period{60};    // as its owner wishes
  std::uint32_t ncpus = 1;          // threads to compute with
  std::string gpu_type;             // "NVIDIA", "ATI", "intel_gpu"; empty: none
  std::int32_t gpu_device = -1;     // which of them
  std::int32_t opencl_device = -1;  // the same as OpenCL counts; -1: not there
};

// Throws corrupt.
InitData parse_init_data(ByteView bytes);

// Orders of the client; several may come in one text.
struct ProcessOrders {
  bool suspend = false;
  bool resume = false;
  bool quit = false;   // the task goes on later, from its checkpoint
  bool abort = false;  // it never does
};
ProcessOrders parse_process_orders(std::string_view text);

// How far the task is; to be told every second.
struct AppStatus {
  double cpu_seconds = 0;  // with those of earlier starts
  // What cpu_seconds was when the last checkpoint was written: its growing
  // tells the client that there is one.
  double checkpoint_cpu_seconds = 0;
  double fraction_done = 0;  // 0 to 1
};
std::string write(const AppStatus& status);

// Input and output files lie in the project's folder; what lies in the slot
// under their names is a text that says where. nullopt: `text` is no such link,
// so the file is the thing itself.
std::optional<std::string> soft_link_target(std::string_view text);

}  // namespace quorate::boinc

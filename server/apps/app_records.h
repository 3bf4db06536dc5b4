// What a reply of the scheduler says of a published version: the record of it
// and of the files to download.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "protocol/boinc/scheduler_reply.h"
#include "server/apps/app_versions.h"

namespace quorate::boinc {

// How a task uses the host.
struct DeviceUse {
  DeviceKind kind = DeviceKind::cpu;
  double ncpus = 1;  // threads of its own, or what a GPU's task needs of them
  double flops = 1e9;
  // Of a GPU: "NVIDIA", "ATI" or "intel_gpu", as the client calls its maker.
  std::string coproc_type;
  double coproc_count = 0;  // may be a part of one
  double gpu_ram_bytes = 0;
};

struct AppRecords {
  AppVersion version;
  std::vector<InputFile> files;
};

// "" on the CPU, "cuda", or "opencl_nvidia", "opencl_amd", "opencl_intel". A
// client reads "cuda", "opencl", "ati" and "vbox" inside such a name as demands
// on the device. Of other makers' devices (which users declare) "opencl".
std::string plan_class(DeviceKind kind, std::string_view coproc_type);

// download_url: where the name of a file is to be appended.
AppRecords app_records(const AppVersions& versions,
                       const PublishedVersion& version,
                       const std::string& app_name,
                       const std::string& download_url, const DeviceUse& use);

}  // namespace quorate::boinc

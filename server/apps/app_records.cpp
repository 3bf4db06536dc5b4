#include "server/apps/app_records.h"

#include <fmt/format.h>

#include "base/error.h"

namespace quorate::boinc {
namespace {

InputFile input_file(const AppVersions& versions, const std::string& name,
                     const std::string& download_url) {
  const AppFile* file = versions.file(name);
  check(file != nullptr, "a published version has all its files");
  InputFile input;
  input.name = file->name;
  input.urls = {download_url + file->name};
  input.md5 = file->md5;
  input.nbytes = file->nbytes;
  input.signature = file->signature;
  return input;
}

}  // namespace

std::string plan_class(DeviceKind kind, std::string_view coproc_type) {
  if (kind == DeviceKind::cpu) return "";
  std::string name(name_of(kind));
  if (kind == DeviceKind::cuda) return name;
  if (coproc_type == "NVIDIA") return name + "_nvidia";
  if (coproc_type == "ATI") return name + "_amd";
  if (coproc_type == "intel_gpu") return name + "_intel";
  return name;
}

AppRecords app_records(const AppVersions& versions,
                       const PublishedVersion& version,
                       const std::string& app_name,
                       const std::string& download_url, const DeviceUse& use) {
  AppRecords records;
  AppVersion& record = records.version;
  record.app_name = app_name;
  record.version = version.version;
  record.platform = version.platform;
  record.plan_class = plan_class(use.kind, use.coproc_type);
  record.ncpus = use.ncpus;
  record.flops = use.flops;
  record.coproc_type = use.coproc_type;
  record.coproc_count = use.coproc_count;
  record.gpu_ram_bytes = use.gpu_ram_bytes;
  record.command_line = fmt::format("--device {}", name_of(use.kind));

  records.files.push_back(input_file(versions, version.program, download_url));
  records.files.back().is_executable = true;
  record.files.push_back({version.program, "", true});
  for (const AppLibrary& library : version.libraries) {
    records.files.push_back(input_file(versions, library.file, download_url));
    // The loader looks in the slot, and takes no link of the client's kind.
    record.files.push_back({library.file, library.soname, false, true});
  }
  return records;
}

}  // namespace quorate::boinc

#include "server/apps/shipped_worker.h"

#include <exception>

#include <fmt/format.h>

#include "base/error.h"
#include "base/log.h"
#include "protocol/worker/worker_process.h"
#include "server/apps/app_publisher.h"
#include "server/apps/program_files.h"

namespace quorate::boinc {
namespace {

// Of the worker that is built with this program.
std::vector<DeviceKind> shipped_devices() {
#ifdef QUORATE_HAS_CUDA
  return {DeviceKind::cpu, DeviceKind::cuda, DeviceKind::opencl};
#else
  return {DeviceKind::cpu, DeviceKind::opencl};
#endif
}

void publish(const ProjectFolder& folder, const std::string& program) {
  NewVersion version =
      read_program(program, {}, own_platform(), shipped_devices());
  AppPublisher publisher(folder, "publish " + program);
  if (find_same(publisher.manifest(), version) != nullptr) return;
  bool is_elsewhere = publisher.manifest().code_sign_key.has_value() &&
                      !fs::exists(folder.boinc_key());
  if (is_elsewhere) {
    std::string devices;
    for (DeviceKind kind : version.devices) {
      devices += fmt::format("{}{}", devices.empty() ? "" : ",", name_of(kind));
    }
    log_warning(
        "boinc_worker_not_published",
        {{"why", "the code-sign key is kept elsewhere"},
         {"type", fmt::format("quorate -C {} boinc app add --key FILE "
                              "--devices {} {}",
                              folder.root.string(), devices, program)}});
    return;
  }
  RsaPrivateKey key = publisher.load_or_make_key(folder.boinc_key());
  std::uint32_t number = publisher.add(key, version);
  log_info("boinc_worker_published", {{"version", number},
                                      {"platform", version.platform},
                                      {"program", program},
                                      {"libraries", version.libraries.size()}});
}

}  // namespace

void publish_shipped_worker(const ProjectFolder& folder) {
  try {
    publish(folder, protocol::find_worker_program());
  } catch (const std::exception& error) {
    log_warning("boinc_worker_not_published", {{"why", error.what()}});
  }
}

}  // namespace quorate::boinc

#include "server/apps/shipped_worker.h"

#include <exception>

#include <fmt/format.h>

#include "base/error.h"
#include "base/log.h"
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

fs::path beside_this_program() {
  return fs::read_symlink("/proc/self/exe").parent_path() / "quorate-worker";
}

void expect_built(const NewVersion& version, const fs::path& program,
                  const Hash& built) {
  if (sha256(version.program.bytes) == built) return;
  throw Error(ErrorKind::corrupt,
              fmt::format("{} is not the one that was built with this program: "
                          "install both together, or publish it with `quorate "
                          "boinc app add`",
                          program.string()));
}

void publish(const ProjectFolder& folder, const Hash& built) {
  const fs::path program = beside_this_program();
  NewVersion version =
      read_program(program, {}, own_platform(), shipped_devices());
  expect_built(version, program, built);
  AppPublisher publisher(folder, "publish " + program.string());
  if (find_same(publisher.manifest(), version) != nullptr) return;
  if (!fs::exists(folder.boinc_key())) {
    std::string devices;
    for (DeviceKind kind : version.devices) {
      devices += fmt::format("{}{}", devices.empty() ? "" : ",", name_of(kind));
    }
    log_warning("boinc_worker_not_published",
                {{"why", "the code-sign key is kept elsewhere"},
                 {"type", fmt::format("quorate -C {} boinc app add --key FILE "
                                      "--devices {} {}",
                                      folder.root.string(), devices,
                                      program.string())}});
    return;
  }
  RsaPrivateKey key = publisher.load_key(folder.boinc_key());
  std::uint32_t number = publisher.add(key, version);
  log_info("boinc_worker_published", {{"version", number},
                                      {"platform", version.platform},
                                      {"program", program.string()},
                                      {"libraries", version.libraries.size()}});
}

}  // namespace

void publish_shipped_worker(const ProjectFolder& folder, const Hash& built) {
  if (fs::exists(folder.boinc_key())) {
    log_warning("boinc_key_on_server",
                {{"why",
                  "whoever breaks into this server can send programs to every "
                  "volunteer with a BOINC client"},
                 {"type", fmt::format("quorate -C {} boinc key rotate "
                                      "--new-key FILE, on a medium that you "
                                      "take away",
                                      folder.root.string())}});
  }
  try {
    publish(folder, built);
  } catch (const std::exception& error) {
    log_warning("boinc_worker_not_published", {{"why", error.what()}});
  }
}

}  // namespace quorate::boinc

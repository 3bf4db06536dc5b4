#include "client/worker/boinc/boinc_task.h"

#include <cerrno>
#include <charconv>
#include <optional>

#include <fmt/format.h>
#include <unistd.h>

#include "base/arithmetic.h"
#include "base/error.h"
#include "client/worker/boinc/boinc_runtime.h"
#include "client/worker/boinc/boinc_slot.h"
#include "client/worker/checks/self_test.h"
#include "client/worker/units/unit_runner.h"
#include "kernels/devices/backends.h"
#include "protocol/native/messages.h"
#include "workunits/device_text.h"
#include "workunits/keyring.h"

namespace quorate::worker {
namespace {

// Has `make` write the file unless it is there. Of several tasks that start at
// once one wins, and all read what it wrote, whole.
template <class Make>
void make_once(const fs::path& path, Make make) {
  if (fs::exists(path)) return;
  fs::path temporary = path;
  temporary += fmt::format(".{}", ::getpid());
  fs::remove(temporary);  // of a process that died in here
  make(temporary);
  if (::link(temporary.c_str(), path.c_str()) != 0 && errno != EEXIST) {
    throw_errno("make " + path.string());
  }
  fs::remove(temporary);
  sync_folder(path.parent_path());
}

// One for each id that the project gave: who copies the client's folder becomes
// another host, with another key.
PrivateKey host_key(const boinc::InitData& init_data) {
  fs::path path = fs::path(init_data.project_dir) /
                  fmt::format("quorate-host-{}.key", init_data.hostid);
  make_once(path, [](const fs::path& temporary) {
    PrivateKey::generate().save(temporary);
  });
  return PrivateKey::load(path);
}

// Of the newest list seen here; a third line that older versions do not write.
std::string pin_text(const Keyring& keys) {
  return fmt::format("{}\n{}\n{}", keys.project.hex(), keys.root.hex(),
                     keys.number == 0 ? "" : fmt::format("{}\n", keys.number));
}

// The number in a pin that begins with what every pin of this project begins
// with; nullopt for another project's.
std::optional<std::uint64_t> pinned_number(std::string_view pin,
                                           const Keyring& keys) {
  const std::string first = pin_text(keyring_of(keys.project, keys.root));
  if (!pin.starts_with(first)) return std::nullopt;
  pin.remove_prefix(first.size());
  std::uint64_t number = 0;
  const auto [end, error] =
      std::from_chars(pin.data(), pin.data() + pin.size(), number);
  if (pin.empty()) return 0;
  if (error != std::errc() || std::string_view(end) != "\n")
    return std::nullopt;
  return number;
}

// The root of the first key that has sealed a unit is the project's, whatever a
// BOINC server at the same address says later; and no list is taken that is
// older than one which was seen here. Returns the key that sealed this unit.
PublicKey require_pinned_key(const BoincTask& task, const BoincSlot& slot,
                             Millis unix_ms) {
  constexpr std::size_t kMaxSealedBytes = 1 << 20;
  constexpr std::size_t kMaxPin = 1024;
  const fs::path unit = slot.file("unit");
  const std::string what = "workunit " + unit.string();
  const Keyring keys =
      task.keyring.empty()
          ? keyring_of(task.project, task.project_key)
          : keyring_named(task.project_key, task.keyring, "--keyring");
  const Bytes sealed = read_file(unit, kMaxSealedBytes);
  (void)open_sealed(sealed, SealKind::workunit, keys, what);
  const SigningKey sealer =
      task.keyring.empty() ? keys.current() : sealer_of(sealed, keys, what);
  if (keys.project != task.project || !speaks(sealer, unix_ms)) {
    throw Error(ErrorKind::denied,
                fmt::format("{}: key {} does not speak for project {} now: ask "
                            "its operator",
                            what, sealer.key.hex(), task.project.hex()));
  }
  const fs::path path =
      fs::path(slot.init_data().project_dir) / "quorate-project.key";
  make_once(path, [&](const fs::path& temporary) {
    write_file_durably(temporary, as_bytes(pin_text(keys)));
  });
  const auto known = pinned_number(read_text_file(path, kMaxPin), keys);
  if (!known || *known > keys.number) {
    throw Error(ErrorKind::denied,
                fmt::format("project key {}: expected the one in {}, which "
                            "sealed the first unit here: ask the project; to "
                            "trust the new key, remove that file",
                            task.project_key.hex(), path.string()));
  }
  if (*known < keys.number) write_file_durably(path, as_bytes(pin_text(keys)));
  return sealer.key;
}

std::unique_ptr<Backend> assigned_device(const std::string& kind,
                                         const boinc::InitData& init_data) {
  auto backend = make_backend(boinc_device(kind, init_data), init_data.ncpus);
  require_exact(*backend);
  return backend;
}

// A witness computes the update all the same: the proof is over its bytes.
fs::path update_path(const BoincTask& task, const BoincSlot& slot) {
  return task.is_witness ? slot.own_file("update_of_witness")
                         : slot.file("update");
}

Bytes signed_header(const BoincTask& task, const BoincSlot& slot,
                    const DeviceInfo& device, const Claim& claim) {
  ResultHeader header;
  header.result_id = static_cast<std::uint64_t>(task.result);
  header.nonce = task.nonce;
  header.workunit = sha256(read_file(slot.file("unit")));
  header.device = device_text(device.name, device.model, device.driver);
  header.arithmetic = kArithmeticVersion;
  MappedFile update;
  if (!claim.update.is_zero()) update = MappedFile(update_path(task, slot));
  return protocol::write_signed_header(sign_claim(std::move(header), claim,
                                                  update.bytes(), task.project,
                                                  host_key(slot.init_data())));
}

}  // namespace

std::string boinc_device(const std::string& kind,
                         const boinc::InitData& init_data) {
  std::int32_t number = kind == "cuda"     ? init_data.gpu_device
                        : kind == "opencl" ? init_data.opencl_device
                                           : -1;
  return number < 0 ? kind : fmt::format("{}:{}", kind, number);
}

int run_boinc_task(const BoincTask& task, const fs::path& slot_folder,
                   const std::string& device_kind, const Clock& clock) {
  BoincSlot slot(slot_folder);
  const PublicKey sealed_with = require_pinned_key(task, slot, clock.unix_ms());
  fs::path header = slot.file("header");
  // A client that told us to quit when we were done starts us again.
  if (!fs::exists(header)) {
    BoincChannels channels(slot.channels());
    BoincRuntime runtime(slot.init_data(), channels, clock);
    auto backend = assigned_device(device_kind, slot.init_data());
    protocol::WorkerReply reply =
        UnitRunner(*backend, clock)
            .compute({1, task.project, sealed_with, slot.file("unit"),
                      slot.file("snapshot"), slot.file("shard"),
                      update_path(task, slot), slot.own_file("checkpoint")},
                     runtime);
    const auto* done = std::get_if<protocol::ComputeDone>(&reply);
    if (done == nullptr) {
      return runtime.state() == BoincState::aborted ? kBoincAborted : 0;
    }
    write_file_durably(
        header, signed_header(task, slot, backend->device(), done->claim));
  }
  slot.finish(0);
  return 0;
}

}  // namespace quorate::worker

// What a BOINC client sends to the scheduler: who it is, what it has, what it
// finished, what it wants. All of it is a claim of an unknown machine.
// docs/protocol.md, "The BOINC dialect".
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "base/weak_crypto.h"
#include "workunits/host.h"

namespace quorate::boinc {

// Wanted of one kind of processor: so many seconds of work, and for so many
// devices that are idle now. Nothing may be sent for a kind with neither.
struct DeviceWish {
  double seconds = 0;
  double instances = 0;

  bool is_any() const { return seconds > 0 || instances > 0; }

  bool operator==(const DeviceWish&) const = default;
};

// A kind of GPU. With several models of a maker in the machine, the best one.
struct Coproc {
  std::string type;  // "NVIDIA", "ATI", "intel_gpu", or a name of the user's
  std::string model;
  std::uint32_t count = 0;
  DeviceWish wish;
  bool has_cuda = false;
  bool has_opencl = false;
  std::uint32_t cuda_version = 0;   // of the driver: 12040 is 12.4
  std::uint32_t compute_major = 0;  // CUDA's compute capability
  std::uint32_t compute_minor = 0;
  double memory_bytes = 0;  // free when the client started
  double peak_flops = 0;

  bool operator==(const Coproc&) const = default;
};

// Claims: 0 or empty for unknown.
struct HostInfo {
  std::string name;
  std::string cpid;  // of the machine, the same for all projects
  std::uint32_t ncpus = 0;
  std::string cpu_model;
  std::string cpu_features;  // "fpu vme ... avx2 avx512f"
  double cpu_flops = 0;      // of one CPU; exactly 1e9: not measured
  double memory_bytes = 0;
  double free_disk_bytes = 0;
  std::string os_name;
  std::string os_version;  // ends in "|libc 2.36]" on Linux

  bool operator==(const HostInfo&) const = default;
};

struct ReportedFile {
  std::string name;
  std::uint64_t nbytes = 0;
  std::string error;  // why it was not uploaded; empty if it was

  bool operator==(const ReportedFile&) const = default;
};

// A task that ended, well or not. That it "was uploaded" proves nothing: a
// refused upload is reported with state and exit status of a success.
struct ReportedResult {
  static constexpr std::uint32_t kDownloadFailed = 1;
  static constexpr std::uint32_t kComputeError = 3;
  static constexpr std::uint32_t kUploaded = 5;
  static constexpr std::uint32_t kAborted = 6;
  static constexpr std::uint32_t kUploadFailed = 7;

  std::string name;
  std::uint32_t state = 0;
  std::int32_t exit_status = 0;
  double cpu_seconds = 0;
  double elapsed_seconds = 0;
  std::string plan_class;
  // The end of what the client and the program's standard error say, plain and
  // in one line.
  std::string why;
  std::vector<ReportedFile> files;

  bool is_success() const { return state == kUploaded && exit_status == 0; }

  bool operator==(const ReportedResult&) const = default;
};

// A message from a task in progress ("trickle-up"): our worker says how far it
// is.
struct TrickleUp {
  std::string result_name;
  std::string variety;
  std::uint32_t step = 0;
  std::uint32_t steps = 0;

  bool operator==(const TrickleUp&) const = default;
};

// A task that the client still has: waiting, in work, or uploading.
struct HeldResult {
  std::string name;
  std::string plan_class;  // of the app version that it was sent with

  bool operator==(const HeldResult&) const = default;
};

// A sticky file that the client has.
struct StickyFile {
  std::string name;
  double bytes = 0;  // 0: not told

  bool operator==(const StickyFile&) const = default;
};

struct ClientVersion {
  std::uint32_t major = 0;
  std::uint32_t minor = 0;
  std::uint32_t release = 0;

  bool operator==(const ClientVersion&) const = default;
};

struct SchedulerRequest {
  std::string authenticator;  // the account's key
  HostId hostid = 0;          // 0: it has none yet
  // Grows with each request of this client's folder, so that a smaller one than
  // before comes from a copy of it.
  std::uint32_t rpc_seqno = 0;
  ClientVersion client;
  // Several clients share the machine.
  bool allow_multiple_clients = false;
  bool wants_no_work = false;
  std::vector<std::string> platforms;  // the best first
  DeviceWish cpu;
  std::vector<Coproc> coprocs;
  std::optional<RsaPublicKey> code_sign_key;  // the one that it trusts
  std::string cross_project_id;
  double clock = 0;  // its time, seconds since 1970
  double upload_bytes_per_second = 0;
  HostInfo host;
  std::vector<ReportedResult> results;
  std::vector<TrickleUp> trickles;
  std::vector<StickyFile> files;
  std::vector<HeldResult> in_progress;  // all that it still has

  bool operator==(const SchedulerRequest&) const = default;
};

// Throws corrupt, naming the element, for what is no request or out of bounds.
// Elements that are not known are skipped.
SchedulerRequest parse_scheduler_request(ByteView bytes);

}  // namespace quorate::boinc

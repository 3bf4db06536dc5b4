// What the scheduler answers to a BOINC client: who it is to us, what to do,
// and work with all that the work needs. Everything here is ours but the texts
// that people wrote; those are made plain and short when written.
// docs/protocol.md, "The BOINC dialect".
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/weak_crypto.h"
#include "protocol/boinc/signatures.h"
#include "workunits/host.h"

namespace quorate::boinc {

// Shown in the client's event log; a notice also pops up. The words "too
// recent" have a meaning of their own to clients: do not use them.
struct Message {
  std::string text;
  bool is_notice = false;
};

// Shown to the volunteer.
struct UserInfo {
  UserId userid = 0;
  std::string name;
  std::string team;
  double total_credit = 0;
  double recent_credit = 0;  // a day, with a half-life of a week
  double created = 0;        // seconds since 1970
};
struct HostCredit {
  double total = 0;
  double recent = 0;
};

// A link in the manager.
struct GuiUrl {
  std::string name;
  std::string description;
  std::string url;
};

struct App {
  std::string name;
  std::string friendly_name;
};

// A file to download. Its name stands for its content for ever; the server must
// answer for it with 200, 206 or 503: a client gives up on 404.
struct InputFile {
  std::string name;
  std::vector<std::string> urls;  // tried in turn
  Md5Hash md5;
  std::uint64_t nbytes = 0;
  bool is_executable = false;
  bool is_sticky = false;  // kept, and named in each request
  // Needed by each file of an app version, of the code-sign key.
  std::optional<RsaSignature> signature;
};

// A file that the task makes and the client uploads.
struct OutputFile {
  std::string name;
  std::vector<std::string> urls;
  std::uint64_t max_nbytes = 0;
  UploadPermission permission;  // comes back with the upload
};

// How a task finds a file.
struct FileRef {
  std::string file_name;
  std::string open_name;  // in the slot; empty for the program itself
  bool is_main_program = false;
  bool is_copied = false;  // into the slot, instead of linked
  bool is_optional = false;
};

// Identified by app, platform, version and plan class; its files can never
// change.
struct AppVersion {
  std::string app_name;
  std::uint32_t version = 0;
  std::string platform;
  // Empty, or a name of ours. "cuda" and "opencl" in it demand those.
  std::string plan_class;
  double ncpus = 1;
  double flops = 1e9;  // run time = rsc_fpops_est / flops
  // The GPUs that a task takes.
  std::string coproc_type;  // "NVIDIA", "ATI", "intel_gpu"; empty: none
  double coproc_count = 0;
  double gpu_ram_bytes = 0;
  std::string command_line;  // after the workunit's
  std::vector<FileRef> files;
};

struct WorkunitRecord {
  std::string name;
  std::string app_name;
  std::uint32_t version = 0;
  double fpops_estimate = 0;
  // When a task has computed so much, by its version's flops, it is killed.
  double fpops_bound = 0;
  double memory_bound_bytes = 0;
  double disk_bound_bytes = 0;
  std::string command_line;
  std::vector<FileRef> files;
};

// Sent again with the name of one that the client has, it moves the deadline;
// of one that it lost, it brings it back.
struct ResultRecord {
  std::string name;
  std::string workunit;
  std::string platform;
  std::uint32_t version = 0;
  std::string plan_class;
  double report_deadline = 0;  // seconds since 1970, by the client's clock
  std::vector<FileRef> files;
};

struct SchedulerReply {
  std::string project_name;
  std::string master_url;    // as attached: another one is a warning
  Seconds request_delay{0};  // no request before
  // A request after this, even with nothing to say. Without it a client that
  // asked for work and got none stays away for 5 to 15 minutes, then longer.
  std::optional<Seconds> next_rpc_delay;
  bool is_down = false;  // maintenance: the client reads no further
  std::vector<Message> messages;
  std::optional<UserInfo> user;
  std::optional<HostCredit> host_credit;
  HostId hostid = 0;  // set when it is new or another than the client's
  // For a client that has none; or, with the signature of the key that it has,
  // the successor. Never the one that it has.
  std::optional<RsaPublicKey> code_sign_key;
  std::optional<RsaSignature> code_sign_key_signature;
  std::vector<GuiUrl> gui_urls;
  // Of every reported result, also unknown ones: else it is reported for ever.
  std::vector<std::string> acknowledged;
  std::vector<std::string> aborted;
  std::vector<std::string> aborted_if_not_started;
  std::vector<std::string> deleted_files;  // sticky ones
  bool acknowledges_trickles = false;
  std::vector<std::string> unused_coprocs;  // types never to ask for
  // Of all the work below; what the client has already does no harm.
  std::vector<App> apps;
  std::vector<InputFile> input_files;
  std::vector<AppVersion> app_versions;
  std::vector<OutputFile> output_files;
  std::vector<WorkunitRecord> workunits;
  std::vector<ResultRecord> results;
};

std::string write(const SchedulerReply& reply);

}  // namespace quorate::boinc

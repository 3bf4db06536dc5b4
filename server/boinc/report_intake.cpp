#include "server/boinc/report_intake.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/error.h"
#include "base/log.h"
#include "server/boinc/names.h"

namespace quorate::boinc {
namespace {

std::string failure_of(const ReportedResult& result) {
  for (const ReportedFile& file : result.files) {
    if (!file.error.empty()) {
      return fmt::format("file {}: {}", file.name, file.error);
    }
  }
  const char* what =
      result.state == ReportedResult::kDownloadFailed ? "download failed"
      : result.state == ReportedResult::kAborted      ? "aborted"
      : result.state == ReportedResult::kUploadFailed ? "upload failed"
                                                      : "computation error";
  return fmt::format("{}, exit status {}: {}", what, result.exit_status,
                     result.why);
}

// The header's update if it is in the store: after a restart nobody knows any
// more who sent it, and the client does not send it again. The proof in the
// header shows that this host has it.
void find_upload(OpenResult& open, ObjectStore& objects, const Hash& update) {
  if (open.is_witness || !open.uploaded.is_zero() || update.is_zero()) return;
  if (!objects.renew(update)) return;
  open.uploaded = update;
  open.uploaded_bytes = objects.size_of(update);
}

}  // namespace

std::vector<Reported> ReportIntake::read(Host& host,
                                         const SchedulerRequest& request) {
  std::vector<Reported> reported;
  for (const ReportedResult& result : request.results) {
    if (std::optional<ResultId> id = result_of(result.name)) {
      reported.push_back(read_one(host, result, *id));
    }
  }
  return reported;
}

Reported ReportIntake::read_one(Host& host, const ReportedResult& result,
                                ResultId id) {
  Reported reported;
  reported.id = id;
  reported.elapsed_seconds = result.elapsed_seconds;
  reported.plan_class = result.plan_class;
  if (!result.is_success()) {
    reported.failure = failure_of(result);
    return reported;
  }
  std::optional<OpenResult> open = state_.open_results.find(id);
  if (!open || open->host != host.id) return reported;
  std::optional<Bytes> header = uploads_.header(id);
  if (!header) {
    reported.failure = "its header was not uploaded";
    return reported;
  }
  try {
    reported.header = protocol::parse_signed_header(*header);
    adopt_key(host, id, reported.header);
  } catch (const Error& error) {
    if (error.kind() == ErrorKind::io) throw;
    reported.failure = error.what();
  }
  return reported;
}

void ReportIntake::adopt_key(Host& host, ResultId id,
                             const SignedHeader& signed_header) {
  const PublicKey key = decode_result_header(signed_header.bytes).host;
  if (key == host.key) return;
  if (!verify_header(signed_header, state_.keys.id, key)) return;
  if (state_.trust.validated(host.id) > 0) {
    state_.record("host_key_changed", 0, host.id,
                  "it signs with another key: its trust begins anew");
  }
  state_.hosts.change_key(host, key);
  state_.trust.reset(host.id);
  for (ResultId other : state_.feeder.in_progress(host.id)) {
    state_.open_results.set_host_key(other, key);
  }
  state_.open_results.set_host_key(id, key);  // it may be late
}

void ReportIntake::screen(HostId host, std::vector<Reported>& reported) const {
  for (Reported& one : reported) {
    if (!one.failure.empty()) continue;
    std::optional<OpenResult> open = state_.open_results.find(one.id);
    if (!open || open->host != host || one.header.bytes.empty()) continue;
    try {
      find_upload(*open, state_.objects,
                  decode_result_header(one.header.bytes).claim.update);
      one.screened = daemons_.reports.screen(*open, one.header);
    } catch (const Error& error) {
      if (error.kind() == ErrorKind::io) throw;
      one.failure = error.what();
    }
  }
}

void ReportIntake::store(Host& host, const std::vector<Reported>& reported) {
  for (const Reported& one : reported) store_one(host, one);
}

void ReportIntake::store_one(Host& host, const Reported& reported) {
  std::optional<OpenResult> open = state_.open_results.find(reported.id);
  if (!open || open->host != host.id) return;
  if (!reported.failure.empty()) {
    daemons_.transitioner.on_failed(host.id, {reported.id, reported.failure});
    uploads_.forget(reported.id);
    return;
  }
  if (!reported.screened) return;
  note_speed(host, reported);
  try {
    daemons_.reports.store(host.id, reported.id, *reported.screened);
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::denied) throw;
    log_debug("report_refused", {{"host", host.id}, {"why", error.what()}});
  }
  uploads_.forget(reported.id);
}

// As the client measured it: a unit of a host that lies about it is too long or
// too short for itself.
void ReportIntake::note_speed(Host& host, const Reported& reported) {
  const LiveUnit* live = state_.feeder.find_by_result(reported.id);
  if (live == nullptr || reported.elapsed_seconds <= 0) return;
  hosts_.note_speed(host, reported.plan_class,
                    live->unit.operations / reported.elapsed_seconds);
}

}  // namespace quorate::boinc

#include "server/doors/boinc/scheduling/report_intake.h"

#include <set>

#include <fmt/format.h>

#include "base/error.h"
#include "base/log.h"
#include "protocol/native/messages.h"
#include "server/doors/boinc/files/names.h"

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

}  // namespace

std::vector<Reported> ReportIntake::read(Host& host,
                                         const SchedulerRequest& request) {
  std::vector<Reported> reported;
  std::set<ResultId> seen;  // to screen one takes long
  for (const ReportedResult& result : request.results) {
    std::optional<ResultId> id = result_of(result.name);
    if (id && seen.insert(*id).second) {
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
  if (key != host.key) {
    if (!verify_header(signed_header, state_.keys.id, key)) return;
    state_.hosts.change_key(host, key);
    lose_trust(host);
  }
  // As it was sent before the key was known.
  state_.open_results.set_host_key(id, key);
}

// Whoever has another key may be somebody else.
void ReportIntake::lose_trust(Host& host) {
  const bool was_trusted = host.mark == HostMark::trusted;
  if (was_trusted || state_.trust.validated(host.id) > 0) {
    state_.record(
        "host_key_changed", 0, host.id,
        "it signs with another key: it must earn trust from the start");
  }
  if (was_trusted) host.mark = HostMark::none;
  state_.hosts.changed(host.id);
  state_.trust.reset(host.id);
  state_.due.fallen.insert(host.id);
}

void ReportIntake::screen(HostId host, std::vector<Reported>& reported) const {
  for (Reported& one : reported) {
    if (!one.failure.empty()) continue;
    std::optional<OpenResult> open = state_.open_results.find(one.id);
    if (!open || open->host != host || one.header.bytes.empty()) continue;
    try {
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
    daemons_.transitioner.on_failed(host.id, reported.id, reported.failure);
    return;
  }
  if (!reported.screened) return;
  // Before it is stored: then its unit may be closed.
  const LiveUnit* live = state_.feeder.find_by_result(reported.id);
  const double operations = live ? live->unit.operations : 0;
  try {
    const bool is_accepted =
        daemons_.reports.store(host.id, reported.id, *reported.screened)
            .accepted;
    if (is_accepted) {
      hosts_.note_speed(host, reported.plan_class,
                        operations / reported.elapsed_seconds);
    }
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::denied) throw;
    log_debug("report_refused", {{"host", host.id}, {"why", error.what()}});
  }
}

}  // namespace quorate::boinc

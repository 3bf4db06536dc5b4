#include "server/reports.h"

#include <fmt/format.h>

#include "base/error.h"
#include "validator/screening.h"

namespace quorate {

namespace {

// In progress, or late: its lease ran out, and it is judged all the same.
bool may_report(const Result& result) {
  return result.server_state == ServerState::in_progress ||
         result.outcome == ResultOutcome::no_reply;
}

}  // namespace

ScreenedReport Reports::screen(const OpenResult& open,
                               const SignedHeader& signed_header) const {
  ScreenedReport report;
  report.signed_header = signed_header;
  report.header = decode_result_header(signed_header.bytes);
  report.claim = claim_hash(report.header.claim);
  std::optional<UploadedUpdate> upload;
  if (!open.uploaded.is_zero()) {
    upload = UploadedUpdate{open.uploaded, open.uploaded_bytes};
  }
  report.rejection = screen_header(
      {open.id, open.nonce, open.workunit, open.host_key}, *open.task,
      report.header,
      verify_header(signed_header, state_.keys.id, open.host_key), upload);
  if (report.rejection) return report;
  MappedFile payload;
  if (upload) payload = state_.objects.map_checked(upload->hash);
  if (report.header.claim.outcome == ComputeOutcome::success) {
    report.rejection = screen_update(open.task->model, payload.bytes());
  }
  if (!report.rejection)
    report.rejection = screen_proof(report.header, payload.bytes());
  return report;
}

protocol::ReportReply Reports::store(HostId host, ResultId id,
                                     const ScreenedReport& report) {
  LiveUnit* live = state_.feeder.find_by_result(id);
  Result* result = live ? live->find(id) : nullptr;
  if (result == nullptr || result->host != host || !may_report(*result)) {
    return repeat(host, id, report.signed_header);
  }
  WorkunitId unit = live->unit.id;
  state_.activity.count_received();
  result->server_state = ServerState::over;
  result->received = state_.clock.unix_ms();
  result->header = report.signed_header;
  result->claim = report.claim;
  state_.leases.end(id);
  state_.open_results.remove(id);
  if (report.rejection) {
    result->outcome = ResultOutcome::validate_error;
    validation_.reject(*live, *result, *report.rejection);
  } else {
    result->outcome = ResultOutcome::success;
    result->reason.clear();
    result->update = report.header.claim.update;
    result->computed = report.header.claim.outcome;
    state_.feeder.save(*result);
  }
  transitioner_.on_reported(unit);
  return {!report.rejection, report.rejection.value_or("")};
}

protocol::ReportReply Reports::repeat(HostId host, ResultId id,
                                      const SignedHeader& header) const {
  std::optional<Result> old = state_.store.result(id);
  if (!old || old->host != host) {
    throw Error(
        ErrorKind::denied,
        fmt::format("report result {}: it was not sent to this host", id));
  }
  if (old->header.bytes == header.bytes && !header.bytes.empty()) {
    bool accepted = old->outcome == ResultOutcome::success;
    return {accepted, accepted ? "" : old->reason};
  }
  return {false,
          fmt::format("result {} is closed: {}", id, name_of(old->outcome))};
}

}  // namespace quorate

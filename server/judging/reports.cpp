#include "server/judging/reports.h"

#include <fmt/format.h>

#include "base/error.h"
#include "server/units/states.h"
#include "validator/screening.h"
#include "workunits/objects/update.h"

namespace quorate {

Error on_hold(ResultId id) {
  return Error(ErrorKind::unavailable,
               fmt::format("result {}: the server cannot take it until its "
                           "operator has repaired the run: try again later",
                           id));
}

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
      {open.id, open.nonce, open.workunit, open.host_key, !open.is_witness},
      *open.task, report.header,
      verify_header(signed_header, state_.keys.id, open.host_key), upload);
  if (!report.rejection) screen_payload(open, report);
  return report;
}

void Reports::screen_payload(const OpenResult& open,
                             ScreenedReport& report) const {
  const Claim& claim = report.header.claim;
  if (claim.outcome == ComputeOutcome::diverged) {
    report.rejection = screen_proof(report.header, {});
    return;
  }
  const bool is_uploaded = !open.uploaded.is_zero();
  // What the store has stays there, whosever it is: a result will name it.
  if (!is_uploaded && !state_.objects.renew(claim.update)) {
    report.awaits_payload = true;
    return;
  }
  // Before it is hashed: a witness may name any object of the project.
  const std::uint64_t expected = update_bytes(*open.task);
  const std::uint64_t size =
      is_uploaded ? open.uploaded_bytes : state_.objects.size_of(claim.update);
  if (size != expected) {
    report.rejection = fmt::format(
        "malformed update: expected {} bytes, found {}", expected, size);
    return;
  }
  MappedFile payload = is_uploaded ? uploads_.payload(open)
                                   : state_.objects.map_checked(claim.update);
  ScreenedUpdate update = screen_update(*open.task, payload.bytes());
  report.rejection = update.rejection
                         ? std::move(update.rejection)
                         : screen_proof(report.header, payload.bytes());
  if (report.rejection) return;
  if (is_uploaded) uploads_.adopt(open);
  report.size = std::move(update.size);
  for (const WaitingWitness& witness :
       state_.open_results.witnesses(open.workunit)) {
    if (witness.header.claim.update != claim.update) continue;
    report.witnesses.emplace(witness.id,
                             screen_proof(witness.header, payload.bytes()));
  }
}

Acknowledgement Reports::store(HostId host, ResultId id,
                               const ScreenedReport& report) {
  LiveUnit* live = state_.feeder.find_by_result(id);
  Result* result = live ? live->find(id) : nullptr;
  if (result == nullptr || result->host != host || !may_report(*result)) {
    return repeat(host, id, report.signed_header);
  }
  WorkunitId unit = live->unit.id;
  state_.activity.count_received();
  result->header = report.signed_header;
  result->claim = report.claim;
  state_.leases.end(id);
  state_.open_results.remove(id);
  std::optional<std::string> rejection = report.rejection;
  if (state_.hosts.host(host)->mark == HostMark::banned) {
    rejection = "the host is banned: " + state_.hosts.host(host)->mark_reason;
  }
  mark_reported(*result, state_.clock.unix_ms(), !rejection);
  if (rejection) {
    verdicts_.reject(*live, *result, *rejection);
  } else {
    keep(*live, *result, report);
  }
  transitioner_.on_reported(unit);
  return {!rejection, rejection.value_or("")};
}

void Reports::keep(LiveUnit& live, Result& result,
                   const ScreenedReport& report) {
  result.update = report.header.claim.update;
  result.computed = report.header.claim.outcome;
  if (report.size) live.sizes[result.update] = *report.size;
  if (report.awaits_payload) {
    set_verdict(result, ValidateState::inconclusive);
    state_.open_results.add_witness(live.unit.object,
                                    {result.id, report.header});
  }
  state_.feeder.save(result);
  for (const Result& other : live.results) {
    if (other.update == result.update && has_payload(other)) {
      settle_witnesses(live, other, report);
      return;
    }
  }
}

// What is wrong with a witness's proof of an update that is there, if anything.
std::optional<std::string> Reports::wrong_proof(
    const Result& witness, const Hash& update,
    const ScreenedReport& report) const {
  auto known = report.witnesses.find(witness.id);
  if (known != report.witnesses.end()) return known->second;
  // One that was reported while this payload was being screened.
  return screen_proof(decode_result_header(witness.header.bytes),
                      state_.objects.map_checked(update).bytes());
}

// The payload that they claim is there.
void Reports::settle_witnesses(LiveUnit& live, const Result& uploaded,
                               const ScreenedReport& report) {
  for (Result& witness : live.results) {
    if (witness.validate_state != ValidateState::inconclusive ||
        witness.update != uploaded.update) {
      continue;
    }
    std::optional<std::string> wrong;
    try {
      wrong = wrong_proof(witness, uploaded.update, report);
    } catch (const Error& error) {
      // The payload is damaged: the witness waits on.
      if (error.kind() != ErrorKind::corrupt) throw;
      state_.run(live.unit.run).damage = error.what();
      return;
    }
    set_verdict(witness, ValidateState::init);
    if (wrong) {
      mark_refused(witness);
      verdicts_.reject_false(live, witness, *wrong);
    } else {
      state_.feeder.save(witness);
    }
  }
}

Acknowledgement Reports::repeat(HostId host, ResultId id,
                                const SignedHeader& header) const {
  if (state_.open_results.is_on_hold(id, host)) throw on_hold(id);
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

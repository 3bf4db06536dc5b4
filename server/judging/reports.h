// Takes signed headers of results: screens them on the caller's thread, stores
// them on the writer's. A report is acknowledged after it is durable.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "base/error.h"
#include "server/judging/transitioner.h"
#include "server/judging/verdicts.h"
#include "server/objects/upload.h"
#include "server/state/project_state.h"
#include "validator/update_bound.h"

namespace quorate {

// A header that was read, and what screening found wrong with it.
struct ScreenedReport {
  SignedHeader signed_header;
  ResultHeader header;
  Hash claim;
  std::optional<std::string> rejection;
  // A witness whose update nobody has uploaded yet: its proof is checked when
  // the payload comes.
  bool awaits_payload = false;
  // Of the update, if its payload is there and was screened.
  std::optional<UpdateSize> size;
  // Witnesses of the unit that waited for this payload, and what is wrong with
  // their proofs.
  std::map<ResultId, std::optional<std::string>> witnesses;
};

// What a report's sender hears.
struct Acknowledgement {
  bool accepted = false;  // stored durably; what it is worth shows later
  std::string reason;     // when not accepted
};

// What a host hears of a result that is on hold: see OpenResults.
Error on_hold(ResultId id);

class Reports {
 public:
  Reports(ProjectState& state, Uploads& uploads, Verdicts& verdicts,
          Transitioner& transitioner)
      : state_(state),
        uploads_(uploads),
        verdicts_(verdicts),
        transitioner_(transitioner) {}

  // Any thread. Reads the payload, and makes one that is found good an object.
  // Throws corrupt if the header is none, unavailable if the result was closed
  // meanwhile.
  ScreenedReport screen(const OpenResult& open,
                        const SignedHeader& signed_header) const;
  // The writer's thread. `accepted` says that the result is stored and may
  // count; a host may report a result again and gets the same answer.
  Acknowledgement store(HostId host, ResultId id, const ScreenedReport& report);
  // For a result that is not in progress: what was answered before. Throws
  // denied, or unavailable for one that is on hold.
  Acknowledgement repeat(HostId host, ResultId id,
                         const SignedHeader& signed_header) const;

 private:
  void screen_payload(const OpenResult& open, ScreenedReport& report) const;
  void keep(LiveUnit& live, Result& result, const ScreenedReport& report);
  std::optional<std::string> wrong_proof(const Result& witness,
                                         const Hash& update,
                                         const ScreenedReport& report) const;
  void settle_witnesses(LiveUnit& live, const Result& uploaded,
                        const ScreenedReport& report);

  ProjectState& state_;
  Uploads& uploads_;
  Verdicts& verdicts_;
  Transitioner& transitioner_;
};

}  // namespace quorate

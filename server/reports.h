// Takes signed headers of results: screens them on the caller's thread, stores
// them on the writer's. A report is acknowledged after it is durable.
#pragma once

#include "protocol/native/messages.h"
#include "server/project_state.h"
#include "server/transitioner.h"
#include "server/validation.h"

namespace quorate {

// A header that was read, and what screening found wrong with it.
struct ScreenedReport {
  SignedHeader signed_header;
  ResultHeader header;
  Hash claim;
  std::optional<std::string> rejection;
};

class Reports {
 public:
  Reports(ProjectState& state, Validation& validation,
          Transitioner& transitioner)
      : state_(state), validation_(validation), transitioner_(transitioner) {}

  // Any thread. Reads the payload from the object store. Throws corrupt if the
  // header is none.
  ScreenedReport screen(const OpenResult& open,
                        const SignedHeader& signed_header) const;
  // The writer's thread. `accepted` says that the result is stored and may
  // count; a host may report a result again and gets the same answer.
  protocol::ReportReply store(HostId host, ResultId id,
                              const ScreenedReport& report);
  // For a result that is not in progress: what was answered before, or denied.
  protocol::ReportReply repeat(HostId host, ResultId id,
                               const SignedHeader& signed_header) const;

 private:
  ProjectState& state_;
  Validation& validation_;
  Transitioner& transitioner_;
};

}  // namespace quorate

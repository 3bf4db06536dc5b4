// Results that BOINC clients report: what the native door takes as one request
// each comes here as a name in a scheduler request, after its files were
// uploaded. Every step is told on which thread it runs.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "protocol/boinc/scheduler_request.h"
#include "server/doors/boinc/scheduling/hosts.h"
#include "server/project/project.h"

namespace quorate::boinc {

// One result on its way through the steps.
struct Reported {
  ResultId id = 0;
  std::string failure;  // why there is nothing; empty if there is
  SignedHeader header;
  std::optional<ScreenedReport> screened;  // unset: not in progress (any more)
  double elapsed_seconds = 0;
  std::string plan_class;
};

class ReportIntake {
 public:
  ReportIntake(Project& project, BoincHosts& hosts)
      : state_(project.state()),
        daemons_(project.daemons()),
        uploads_(project.uploads()),
        hosts_(hosts) {}

  // The writer's thread: what the request reports, with the headers that were
  // uploaded. A client that says "done" although its upload was refused has
  // failed. Names that are none of ours are left out. A host's first header
  // brings its key; one with another key than before makes it a host that
  // nobody knows (a volunteer may reset the project, which wipes the key).
  std::vector<Reported> read(Host& host, const SchedulerRequest& request);
  // Any thread: reads the payloads.
  void screen(HostId host, std::vector<Reported>& reported) const;
  // The writer's thread. Stores each, or notes its failure; again for what was
  // stored before, without effect.
  void store(Host& host, const std::vector<Reported>& reported);

 private:
  Reported read_one(Host& host, const ReportedResult& result, ResultId id);
  // Takes the key of a header that verifies; otherwise nothing happens, and
  // screening says what is wrong with it.
  void adopt_key(Host& host, ResultId id, const SignedHeader& header);
  void store_one(Host& host, const Reported& reported);
  // Of a host whose key changed.
  void lose_trust(Host& host);

  ProjectState& state_;
  Daemons& daemons_;
  Uploads& uploads_;
  BoincHosts& hosts_;
};

}  // namespace quorate::boinc

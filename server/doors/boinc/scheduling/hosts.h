// Hosts that come by the BOINC door: which one a client is, and what is
// remembered of it. Used by the writer's thread only.
#pragma once

#include <map>
#include <set>
#include <vector>

#include "protocol/boinc/scheduler_request.h"
#include "server/state/project_state.h"

namespace quorate::boinc {

class BoincHosts {
 public:
  explicit BoincHosts(ProjectState& state);

  // The host that sends this request, or nullptr: a new one.
  Host* find(UserId user, const SchedulerRequest& request);
  // A new host for it. Throws denied if the account has all that it may have.
  Host& add(UserId user, const SchedulerRequest& request);
  // Remembers the request's number and what it says of the machine.
  void note(Host& host, const SchedulerRequest& request);
  // Operations a second of one task of a plan class, as results have shown it
  // since the server's start; 0: unknown.
  double speed(const Host& host, const std::string& plan_class) const;
  // flops: as a client claims to have measured it. What cannot be is not noted;
  // who lies gets units that are too long or too short for him.
  void note_speed(Host& host, const std::string& plan_class, double flops);
  // Writes what changed; call at the end of a job.
  void flush();

 private:
  ProjectState& state_;
  std::map<HostId, BoincHost> rows_;
  std::map<UserId, std::vector<HostId>> of_user_;
  std::map<std::pair<HostId, std::string>, double> speeds_;
  std::set<HostId> dirty_;
};

}  // namespace quorate::boinc

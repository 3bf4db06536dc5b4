// What the daemons share: the project's memory, as the writer's thread sees it.
// Everything here can be rebuilt from the store and the objects. It is a
// struct, not a class: its members keep their own rules, and a daemon takes
// what it needs.
//
// The room server/state puts together what the rooms before it own: hosts,
// trust, live units, leases, runs. It owns all of the project's memory for as
// long as the project is open, and may include those rooms; it decides nothing
// about units. Only the writer's thread may touch it, but for open_results,
// objects and what never changes (folder, keys, settings).
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>

#include "base/crypto.h"
#include "server/hosts/door_terms.h"
#include "server/hosts/hosts.h"
#include "server/hosts/join_limit.h"
#include "server/hosts/rests.h"
#include "server/hosts/sites.h"
#include "server/hosts/trust_book.h"
#include "server/http/clients/known_clients.h"
#include "server/making/training_run.h"
#include "server/settings/notary.h"
#include "server/settings/project_folder.h"
#include "server/settings/roles.h"
#include "server/settings/settings.h"
#include "server/state/activity.h"
#include "server/state/due_units.h"
#include "server/state/storage_row.h"
#include "server/store/store.h"
#include "server/units/feeder.h"
#include "server/units/leases.h"
#include "server/units/open_results.h"
#include "workunits/objects/object_store.h"

namespace quorate {

struct ProjectState {
  // Loads everything: users, hosts, live workunits, runs.
  ProjectState(const ProjectFolder& where, const ServerSettings& options,
               const ProjectKeys& project_keys, const Clock& time,
               Store& database, ObjectStore& object_store);

  const ProjectFolder& folder;
  const ServerSettings& settings;
  const ProjectKeys& keys;
  const Clock& clock;
  Store& store;
  ObjectStore& objects;
  HostTable hosts;
  TrustBook trust;
  Feeder feeder;
  OpenResults open_results;
  Leases leases;
  Reservations reservations;
  Rests rests;
  Sites sites;
  Activity activity;
  // Of both doors together.
  JoinLimit new_accounts;
  JoinLimit new_hosts;
  // By number of the host, of what it asks the scheduler.
  JoinLimit asks;
  KnownClients known_clients;
  // What the folder holds, as the file deleter found it last; empty before.
  std::vector<StorageRow> storage;
  std::map<RunKey, TrainingRun> runs;
  DueUnits due;
  // The host that stands for the server's own workers.
  HostId house_host = 0;
  // Draws that nobody may foresee: who gets a replica, what is checked. A
  // simulation brings its own, so that they are the same again.
  std::function<std::uint64_t()> draw = secret_random_u64;
  // A simulation may bring another.
  std::unique_ptr<const Notary> notary;
  // What hosts said before then is known. Later than that none is silent: what
  // they say while the server takes long over something else waits.
  std::function<Instant()> heard_until;
  // Which daemons run by themselves, once a server runs; not in one command.
  Roles roles;
  bool is_served = false;

  TrainingRun& run(RunKey key) { return runs.at(key); }
  TrainingRun* run_by_name(const std::string& name);
  DoorTerms terms(const Host& host) const;
  // By when every host that is there has come back to a server that started.
  Seconds time_to_come_back() const;
  // A volunteer's host was heard from, and could be sent work, or not.
  void set_available(Host& host, bool is_available);
  // Heard from within its lease, and it could be sent work then.
  bool is_active(HostId host) const;
  // Volunteers' hosts that are, in order of id.
  std::vector<HostId> active_hosts() const;
  // How many, quick with a million. Those whose leases have ended since the
  // last call are no longer at a shard.
  struct HostCounts {
    std::size_t active = 0;
    // Of them, those that are not thought to be gone (hosts_at_work): short
    // rounds cannot wait until leases end.
    std::size_t at_work = 0;
  };
  HostCounts count_hosts();
  // A proven host, or the house's: its results can vouch for others'.
  bool is_anchor(HostId host) const;
  // Of a result in progress, its host; of a reported one, the device that
  // computed it, which may be another than its host's best. Else false.
  bool is_of_anchor(const Result& result) const;
  bool is_banned(HostId host) const {
    return hosts.host(host)->mark == HostMark::banned;
  }
  // No run will ask for work again, unless its operator makes another one.
  bool is_finished() const;
  // Whether no host of the same site or block of addresses has, or is kept,
  // another result of the unit.
  bool is_apart(const LiveUnit& live, HostId host) const;
  // House workers settle what volunteers cannot: checks, disputes.
  bool has_referee() const { return settings.house_workers > 0; }
  // Whether a quorum of this run counts only with an anchor in it.
  bool needs_anchor(const Run& run) const;
  // Model and live units of a run that goes on; a run with damaged objects
  // shows as paused and is left alone, so that the others can go on.
  void load(TrainingRun& training);
  // What hosts have of a run that cannot be loaded waits for it.
  void hold_results(RunKey run);
  // Writes an event that people can read later; logs it too.
  void record(const std::string& kind, RunKey run, HostId host,
              const std::string& text);

 private:
  void leave_shards(HostId host);
  // Of updates that wait for a verdict.
  void note_sizes(RunKey run);
};

}  // namespace quorate

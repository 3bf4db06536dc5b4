#include "server/state/project_state.h"

#include <algorithm>
#include <array>
#include <limits>

#include <fmt/format.h>

#include "base/error.h"
#include "base/log.h"
#include "server/units/states.h"

namespace quorate {
namespace {

constexpr std::array<const char*, 2> kVolunteersDoors = {kNativeDoor,
                                                         kBoincDoor};

// An agent asks and beats every few seconds; its burst lasts it for minutes.
constexpr double kAsksPerMinute = 1200;

// Another key would seal units and entries that nobody can check.
void expect_own(const Run& run, Store& store, const ProjectKeys& keys,
                const ProjectFolder& folder) {
  std::optional<LedgerRecord> last = store.last_record(run.key);
  if (!last || signer_of(last->hash.view(), SealKind::ledger_entry, keys.ring,
                         last->signature) != nullptr) {
    return;
  }
  throw Error(ErrorKind::corrupt,
              fmt::format("run {}: {} is not the key that signed entry {} of "
                          "its ledger: restore the key from a backup",
                          run.name, folder.project_key().string(), last->seq));
}

}  // namespace

ProjectState::ProjectState(const ProjectFolder& where,
                           const ServerSettings& options,
                           const ProjectKeys& project_keys, const Clock& time,
                           Store& database, ObjectStore& object_store)
    : folder(where),
      settings(options),
      keys(project_keys),
      clock(time),
      store(database),
      objects(object_store),
      hosts(database, options.max_hosts_per_account),
      trust(database, trust_policy(options)),
      feeder(database),
      activity(time),
      new_accounts(options.new_accounts_per_minute, time),
      new_hosts(options.new_hosts_per_minute, time),
      asks(kAsksPerMinute, time, std::numeric_limits<std::size_t>::max()),
      known_clients(time),
      notary(std::make_unique<ProjectNotary>(project_keys)),
      heard_until([&time] { return time.now(); }) {
  for (const Run& run : store.runs()) {
    expect_own(run, store, keys, folder);
    TrainingRun& training =
        runs.emplace(run.key, open_run(run, store, folder)).first->second;
    if (training.is_active()) load(training);
  }
  for (auto& [id, live] : feeder.units()) {
    for (const Result& result : live.results) {
      if (result.outcome == ResultOutcome::success &&
          result.validate_state == ValidateState::inconclusive) {
        open_results.add_witness(
            live.unit.object,
            {result.id, decode_result_header(result.header.bytes)});
      }
      if (!may_report(result)) continue;
      const Host& host = *hosts.host(result.host);
      OpenResult open = open_result(live, result, host.key);
      open.is_of_proven = is_anchor(host.id);
      open_results.add(std::move(open));
      if (result.server_state != ServerState::in_progress) continue;
      leases.grant(result.id, clock.now(), terms(host).lease);
      // The settings of trust may be others now.
      due.fallen.insert(host.id);
    }
  }
}

void ProjectState::load(TrainingRun& training) {
  try {
    load_model(training, store, objects);
    feeder.load(training.run.key, objects);
    note_sizes(training.run.key);
    for (const Workunit& unit : store.workunits_to_check(training.run.key)) {
      (unit.check == UnitCheck::recheck ? training.to_recheck
                                        : training.to_revoke)
          .insert(unit.id);
    }
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::corrupt) throw;
    training.is_loaded = false;
    training.is_damaged = true;
    // In memory only: with its objects back, it goes on at the next start.
    training.run.state = RunState::paused;
    training.run.state_reason =
        fmt::format("{}, then start the server again", error.what());
    log_error("run_not_loaded",
              {{"run", training.run.name}, {"why", training.run.state_reason}});
    hold_results(training.run.key);
  }
}

void ProjectState::note_sizes(RunKey run) {
  for (const WorkunitId id : feeder.units_in(run, WorkunitState::open)) {
    LiveUnit& live = *feeder.find(id);
    for (const Result& result : live.results) {
      if (!has_payload(result) || live.sizes.contains(result.update)) continue;
      live.sizes[result.update] =
          size_of_update(*live.task, objects, result.update);
    }
  }
}

void ProjectState::hold_results(RunKey run) {
  std::vector<WorkunitId> units;
  for (const Workunit& unit : store.live_workunits()) {
    if (unit.run == run) units.push_back(unit.id);
  }
  for (const Result& result : store.results_of(units)) {
    if (may_report(result)) open_results.hold(result.id, result.host);
  }
}

TrainingRun* ProjectState::run_by_name(const std::string& name) {
  for (auto& [key, training] : runs) {
    if (training.run.name == name) return &training;
  }
  return nullptr;
}

DoorTerms ProjectState::terms(const Host& host) const {
  return door_terms(host.door, settings);
}

Seconds ProjectState::time_to_come_back() const {
  Seconds longest = door_terms(kNativeDoor, settings).comes_back;
  for (const auto& [id, host] : hosts.hosts()) {
    longest = std::max(longest, terms(host).comes_back);
  }
  return longest;
}

void ProjectState::leave_shards(HostId host) {
  for (auto& [key, training] : runs) training.shard_hosts.leave(host);
}

void ProjectState::set_available(Host& host, bool is_available) {
  hosts.touch(host, clock.now(), clock.unix_ms());
  hosts.presence(host.door).set_available(host.id, is_available);
  if (!is_available) leave_shards(host.id);
}

bool ProjectState::is_active(HostId id) const {
  const Host& host = *hosts.host(id);
  return hosts.presence(host.door).is_available(
      id, heard_until() - terms(host).lease);
}

bool ProjectState::is_finished() const {
  return !runs.empty() &&
         std::all_of(runs.begin(), runs.end(), [](const auto& entry) {
           const RunState state = entry.second.run.state;
           return state == RunState::finished || state == RunState::stopped;
         });
}

std::vector<HostId> ProjectState::active_hosts() const {
  std::vector<HostId> active;
  for (const char* door : kVolunteersDoors) {
    const auto here = hosts.presence(door).available(
        heard_until() - door_terms(door, settings).lease);
    active.insert(active.end(), here.begin(), here.end());
  }
  std::sort(active.begin(), active.end());
  return active;
}

ProjectState::HostCounts ProjectState::count_hosts() {
  HostCounts counts;
  const Instant now = heard_until();
  for (const char* door : kVolunteersDoors) {
    Presence& here = hosts.presence(door);
    const DoorTerms terms = door_terms(door, settings);
    for (HostId gone : here.take_silent(now - terms.lease)) {
      leave_shards(gone);
    }
    const Seconds patience = terms.patience;
    const Presence::Counts found =
        here.count(now - patience, now - 2 * patience);
    counts.active += found.all();
    counts.at_work += hosts_at_work(found);
  }
  return counts;
}

bool ProjectState::is_anchor(HostId host) const {
  return trust.standing(*hosts.host(host)) == Standing::proven;
}

bool ProjectState::is_of_anchor(const Result& result) const {
  if (result.server_state == ServerState::in_progress) {
    return is_anchor(result.host);
  }
  if (result.outcome != ResultOutcome::success) return false;
  const Host& host = *hosts.host(result.host);
  const ResultHeader header = decode_result_header(result.header.bytes);
  // Signed before the host's key changed, it is no better than a new host's.
  return header.host == host.key &&
         trust.standing(host, header) == Standing::proven;
}

bool ProjectState::is_apart(const LiveUnit& live, HostId host) const {
  const std::string& block = hosts.block(host);
  const bool says_something =
      !block.empty() && settings.trust_distinct_addresses;
  return std::none_of(
      live.results.begin(), live.results.end(), [&](const Result& result) {
        // One whose lease ran out may report all the same.
        const bool is_lost = result.outcome == ResultOutcome::didnt_need;
        const HostId other = result.host != 0
                                 ? result.host
                                 : reservations.host(result.id).value_or(0);
        const bool is_near = (says_something && hosts.block(other) == block) ||
                             sites.are_mates(host, other);
        return other != 0 && other != host && !is_lost && is_near;
      });
}

bool ProjectState::needs_anchor(const Run& run) const {
  // A quorum of one is the operator's word that everybody is believed.
  return trust.policy().anchor && run.quorum > 1;
}

void ProjectState::record(const std::string& kind, RunKey run, HostId host,
                          const std::string& text) {
  Event event;
  event.time = clock.unix_ms();
  event.kind = kind;
  event.run = run;
  event.host = host;
  event.text = text;
  store.insert_events({&event, 1});
  log_info(kind, {{"run", run}, {"host", host}, {"text", text}});
}

}  // namespace quorate

#include "server/doors/boinc/scheduling/hosts.h"

#include <fmt/format.h>

#include "protocol/limits.h"
#include "protocol/text.h"
#include "server/doors/boinc/scheduling/host_match.h"

namespace quorate::boinc {
namespace {

// A number that is behind the client's by a few requests after a crash is no
// harm: only a smaller one is taken for a copy's.
constexpr std::uint32_t kSaveEvery = 16;

std::string platform_text(const SchedulerRequest& request) {
  constexpr double kGiB = 1 << 30;
  return protocol::plain_text(
      fmt::format("{}, {} cores, {:.0f} GiB, BOINC {}.{}.{}",
                  request.platforms.front(), request.host.ncpus,
                  request.host.memory_bytes / kGiB, request.client.major,
                  request.client.minor, request.client.release),
      protocol::kMaxPlatform);
}

std::string host_name(const SchedulerRequest& request) {
  std::string name =
      protocol::plain_text(request.host.name, protocol::kMaxName);
  return name.empty() ? "BOINC client" : name;
}

}  // namespace

BoincHosts::BoincHosts(ProjectState& state) : state_(state) {
  for (const BoincHost& row : state.store.boinc_hosts()) {
    rows_[row.host] = row;
    of_user_[state.hosts.host(row.host)->user_id].push_back(row.host);
  }
}

Host* BoincHosts::find(UserId user, const SchedulerRequest& request) {
  std::vector<BoincHost> of_account;
  const Host* named = state_.hosts.host(request.hostid);
  if (named != nullptr && named->user_id == user && rows_.contains(named->id)) {
    of_account.push_back(rows_.at(named->id));
  } else {
    for (HostId id : of_user_[user]) of_account.push_back(rows_.at(id));
  }
  HostId id = match_host({request.hostid, request.host.cpid, request.rpc_seqno,
                          request.allow_multiple_clients},
                         of_account);
  return id == 0 ? nullptr : state_.hosts.host(id);
}

Host& BoincHosts::add(UserId user, const SchedulerRequest& request) {
  Host host;
  // Until its worker has signed something: a key that nobody has.
  host.key = secret_random<PublicKey>();
  host.door = kBoincDoor;
  host.name = host_name(request);
  host.platform = platform_text(request);
  Host& added =
      state_.hosts.register_host_of(user, host, state_.clock.unix_ms());
  rows_[added.id] = {added.id, request.host.cpid, 0};
  of_user_[user].push_back(added.id);
  dirty_.insert(added.id);
  state_.record("host_joined", 0, added.id,
                state_.hosts.user(user)->name + ": " + added.platform);
  return added;
}

void BoincHosts::note(Host& host, const SchedulerRequest& request) {
  BoincHost& row = rows_.at(host.id);
  // A client that is told another id begins to count anew.
  const bool is_told = request.hostid != host.id;
  const std::uint32_t seqno = is_told ? 0 : request.rpc_seqno;
  const bool is_other = row.cpid != request.host.cpid || is_told;
  if (is_other || seqno / kSaveEvery != row.rpc_seqno / kSaveEvery) {
    dirty_.insert(host.id);
  }
  row.rpc_seqno = seqno;
  row.cpid = request.host.cpid;
  std::string platform = platform_text(request);
  std::string name = host_name(request);
  if (host.platform == platform && host.name == name) return;
  host.platform = std::move(platform);
  host.name = std::move(name);
  state_.hosts.changed(host.id);
}

double BoincHosts::speed(const Host& host,
                         const std::string& plan_class) const {
  auto found = speeds_.find({host.id, plan_class});
  return found == speeds_.end() ? 0 : found->second;
}

void BoincHosts::note_speed(Host& host, const std::string& plan_class,
                            double flops) {
  // One task says little: its machine may have been busy.
  constexpr double kWeight = 0.3;
  constexpr double kLeast = 1e3;
  constexpr double kMost = 1e18;
  constexpr std::size_t kMostClasses = 8;  // there are fewer
  if (!(flops >= kLeast && flops <= kMost)) return;
  auto first = speeds_.lower_bound({host.id, ""});
  auto last = speeds_.lower_bound({host.id + 1, ""});
  const bool is_known = speeds_.contains({host.id, plan_class});
  if (!is_known &&
      std::distance(first, last) >= static_cast<std::ptrdiff_t>(kMostClasses)) {
    return;
  }
  double& known = speeds_[{host.id, plan_class}];
  known = known == 0 ? flops : (1 - kWeight) * known + kWeight * flops;
  host.speed_flops = known;
}

void BoincHosts::flush() {
  if (dirty_.empty()) return;
  std::vector<BoincHost> rows;
  for (HostId id : dirty_) rows.push_back(rows_.at(id));
  state_.store.replace_boinc_hosts(rows);
  dirty_.clear();
}

}  // namespace quorate::boinc

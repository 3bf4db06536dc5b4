#include "server/orders/peer_orders.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "protocol/limits.h"
#include "protocol/transfer/project_address.h"
#include "server/datasets/manifest.h"
#include "server/orders/lists.h"
#include "server/project/project.h"

namespace quorate {
namespace {

using nlohmann::json;

// Each may keep a thread busy for its time, and each look asks the store.
constexpr std::size_t kMostPeers = 64;
constexpr std::size_t kMostAllowed = 1024;
constexpr double kUsualEvery = 300;
constexpr double kLeastEvery = 1;
constexpr double kMostEvery = 86'400 * 30;
constexpr double kUsualWeight = 0.5;

[[noreturn]] void refuse(const std::string& why) {
  throw Error(ErrorKind::usage, why);
}

double number_in(const json& arguments, const char* key, double otherwise) {
  if (!arguments.contains(key)) return otherwise;
  if (arguments[key].is_number()) return arguments[key].get<double>();
  refuse(fmt::format("--{}: expected a number, found {}", key,
                     arguments[key].dump()));
}

double every_in(const json& arguments) {
  const double every = number_in(arguments, "every", kUsualEvery);
  if (every >= kLeastEvery && every <= kMostEvery) return every;
  refuse(fmt::format("--every: expected {} to {} seconds, found {}",
                     kLeastEvery, kMostEvery, every));
}

float weight_in(const json& arguments) {
  const double wanted = number_in(arguments, "weight", kUsualWeight);
  const auto weight = static_cast<float>(wanted);
  if (is_mixing_weight(weight)) return weight;
  refuse(
      fmt::format("--weight: expected a number above 0 and below 1, found {}: "
                  "at 0.5 the model moves half of the way",
                  wanted));
}

ProjectAddress address_in(const Project& project, const json& arguments) {
  const std::string text = arguments.at("address");
  ProjectAddress address = parse_project_address(text);
  if (address.fingerprint.empty()) {
    refuse(
        fmt::format("peer {}: its fingerprint is missing, and only that proves "
                    "which project it is: write it as URL#FINGERPRINT",
                    text));
  }
  if (matches(address.fingerprint, project.keys().id)) {
    refuse(fmt::format("peer {}: it is this project itself", text));
  }
  return address;
}

json standing_row(Project& project, const Peer& peer) {
  const auto& all = project.daemons().gossip.standings();
  const auto found = all.find(peer.id);
  if (!project.state().is_served || found == all.end()) {
    return {{"state", "the server does not run"}, {"problem", ""}};
  }
  const PeerStanding& standing = found->second;
  const RunState run = project.state().run(peer.run).run.state;
  if (run != RunState::running) {
    return {{"state", fmt::format("the run is {}", name_of(run))},
            {"problem", ""}};
  }
  if (!standing.has_looked) {
    return {{"state", "not asked yet"}, {"problem", ""}};
  }
  const Seconds left =
      std::max(Seconds(0), standing.next - project.state().clock.now());
  const double seconds = std::ceil(left.count());
  return {{"state", standing.problem.empty()
                        ? fmt::format("asked again in {} s", seconds)
                        : fmt::format("failed, next try in {} s", seconds)},
          {"problem", standing.problem}};
}

json row_of(Project& project, const Peer& peer) {
  json row = {{"id", peer.id},
              {"run", project.state().run(peer.run).run.name},
              {"url", peer.url},
              {"project", peer.fingerprint},
              {"peer_run", peer.peer_run},
              {"every", peer.every},
              {"weight", peer.weight},
              {"mixed", peer.mixed},
              {"version", nullptr},
              {"last_seen", nullptr}};
  if (peer.mixed > 0) {
    row["version"] = peer.last_version;
    row["last_seen"] = peer.last_time;
  }
  row.update(standing_row(project, peer));
  return row;
}

json row_of(const AllowedPeer& peer) {
  return {{"project", peer.fingerprint},
          {"name", peer.name},
          {"since", peer.since}};
}

// A fingerprint, or an address that has one.
std::string fingerprint_in(const json& arguments) {
  const std::string text = arguments.at("project");
  const bool is_address = text.find('#') != std::string::npos;
  const ProjectAddress address =
      parse_project_address(is_address ? text : "http://peer#" + text);
  return address.fingerprint;
}

std::string peer_run_in(const json& arguments, const std::string& own) {
  const std::string name = arguments.value("peer_run", own);
  if (is_dataset_name(name)) return name;  // runs are named so, too
  refuse(
      fmt::format("--run \"{}\": names of runs have lower-case letters, "
                  "digits, '-', '_'",
                  name));
}

// Fingerprints of one project: any number of digits, from the first on.
bool is_one(const std::string& a, const std::string& b) {
  return a.starts_with(b) || b.starts_with(a);
}

void expect_new(const std::vector<Peer>& peers, const Peer& wanted) {
  if (peers.size() >= kMostPeers) {
    refuse(
        fmt::format("there are {} peers, the most that there can be: remove "
                    "one with `quorate peers remove ID`",
                    peers.size()));
  }
  for (const Peer& peer : peers) {
    const bool is_same = peer.run == wanted.run &&
                         is_one(peer.fingerprint, wanted.fingerprint) &&
                         peer.peer_run == wanted.peer_run;
    if (!is_same) continue;
    refuse(
        fmt::format("peer {}: run {} of {} is a peer already: remove it first "
                    "with `quorate peers remove {}`",
                    peer.id, peer.peer_run, peer.url, peer.id));
  }
}

}  // namespace

json add_peer(Project& project, const json& arguments) {
  const TrainingRun& training = run_of(project, arguments);
  if (!training.is_active()) {
    refuse(fmt::format("run {} is {}: no more models can be mixed into it",
                       training.run.name, name_of(training.run.state)));
  }
  const ProjectAddress address = address_in(project, arguments);
  Peer peer;
  peer.run = training.run.key;
  peer.url = address.url;
  peer.fingerprint = address.fingerprint;
  peer.peer_run = peer_run_in(arguments, training.run.name);
  peer.every = every_in(arguments);
  peer.weight = weight_in(arguments);
  ProjectState& state = project.state();
  expect_new(state.store.peers(), peer);
  peer.id = state.store.insert_peer(peer);
  project.daemons().gossip.reload();
  state.record("peer_added", peer.run, 0,
               fmt::format("peer {}: run {} of {}, project {}", peer.id,
                           peer.peer_run, peer.url, peer.fingerprint));
  json row = row_of(project, peer);
  row["own_project"] = fingerprint(state.keys.id);
  return row;
}

json list_peers(Project& project, const json&) {
  json peers = json::array();
  for (const Peer& peer : project.state().store.peers()) {
    peers.push_back(row_of(project, peer));
  }
  json allowed = json::array();
  for (const AllowedPeer& peer : project.state().store.allowed_peers()) {
    allowed.push_back(row_of(peer));
  }
  return {{"project", fingerprint(project.keys().id)},
          {"peers", peers},
          {"allowed", allowed}};
}

json remove_peer(Project& project, const json& arguments) {
  const auto id = arguments.at("peer").get<PeerId>();
  ProjectState& state = project.state();
  for (const Peer& peer : state.store.peers()) {
    if (peer.id != id) continue;
    const json row = row_of(project, peer);
    state.store.remove_peer(id);
    project.daemons().gossip.reload();
    state.record(
        "peer_removed", peer.run, 0,
        fmt::format("peer {}: what was taken from it stays in the model", id));
    return row;
  }
  refuse(fmt::format("there is no peer {}: see `quorate peers list`", id));
}

json allow_peer(Project& project, const json& arguments) {
  ProjectState& state = project.state();
  AllowedPeer peer;
  peer.fingerprint = fingerprint_in(arguments);
  peer.name = arguments.value("name", "");
  if (peer.name.size() > protocol::kMaxName) {
    refuse(fmt::format("--name: at most {} bytes", protocol::kMaxName));
  }
  peer.since = state.clock.unix_ms();
  if (matches(peer.fingerprint, state.keys.id)) {
    refuse("peers allow: it is this project itself");
  }
  if (state.store.allowed_peers().size() >= kMostAllowed) {
    refuse(fmt::format(
        "peers allow: {} projects are allowed, the most that there can be",
        kMostAllowed));
  }
  state.store.replace_allowed_peer(peer);
  state.record("peer_allowed", 0, 0,
               fmt::format("project {} {} may take models", peer.fingerprint,
                           peer.name));
  return row_of(peer);
}

json disallow_peer(Project& project, const json& arguments) {
  const std::string wanted = fingerprint_in(arguments);
  Store& store = project.state().store;
  json removed;
  for (const AllowedPeer& peer : store.allowed_peers()) {
    if (!is_one(peer.fingerprint, wanted)) continue;
    store.remove_allowed_peer(peer.fingerprint);
    project.state().record(
        "peer_disallowed", 0, 0,
        fmt::format("project {} {}", peer.fingerprint, peer.name));
    removed = row_of(peer);
  }
  if (!removed.is_null()) return removed;
  refuse(
      fmt::format("peers disallow {}: it was not allowed: see `quorate "
                  "peers list`",
                  wanted));
}

json peer_problems(Project& project) {
  json problems = json::array();
  for (const Peer& peer : project.state().store.peers()) {
    const std::string problem = standing_row(project, peer)["problem"];
    if (problem.empty()) continue;
    problems.push_back(fmt::format("peer {}: {}", peer.id, problem));
  }
  return problems;
}

}  // namespace quorate

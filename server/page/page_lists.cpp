#include "server/page/page_lists.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "server/page/status.h"

namespace quorate::page {
namespace {

using nlohmann::json;

constexpr std::size_t kMostRuns = 50;
constexpr std::size_t kMostHosts = 50;
constexpr std::size_t kMostUsers = 20;
constexpr std::size_t kMostEvents = 20;
constexpr std::uint64_t kEventsRead = 500;

constexpr Millis kHour = 3'600'000;

// In the place of a host's own words, which anybody can choose.
constexpr const char* kHostFailed = "its host could not compute it";

// The first `most` of `items`, in order.
template <class Item, class Before>
std::vector<Item> first_of(std::vector<Item> items, std::size_t most,
                           Before before) {
  auto end =
      items.begin() + static_cast<std::ptrdiff_t>(std::min(most, items.size()));
  std::partial_sort(items.begin(), end, items.end(), before);
  items.erase(end, items.end());
  return items;
}

// Of equals the older one first.
template <class Member>
bool has_more_credit(const Member* a, const Member* b) {
  return a->credit != b->credit ? a->credit > b->credit : a->id < b->id;
}

// What a host holds, and to the second when it came, would tell which unit it
// got: only its record is public.
json public_host(ProjectState& state, const Host& host) {
  json row = status::host(state, host);
  row.erase("in_progress");
  row["name"] = public_name(host);
  row["platform"] = public_platform(host);
  row["last_seen"] = host.last_seen - host.last_seen % kHour;
  return row;
}

// Up to the first ": " and then `rest`: what follows is somebody's own words.
std::string with_rest(const std::string& text, const std::string& rest) {
  return text.substr(0, text.find(": ")) + ": " + rest;
}

// Texts about hosts begin with the name that the operator knows ("host_banned"
// and its like), or say what a host told of itself.
std::string public_text(const Host* host, const Event& event) {
  // Of a deleted account.
  if (event.text.empty()) return host == nullptr ? "" : public_name(*host);
  if (event.kind == "result_failed") return with_rest(event.text, kHostFailed);
  if (host == nullptr || !event.kind.starts_with("host_")) return event.text;
  if (event.kind == "host_joined") {
    return with_rest(event.text, public_platform(*host));
  }
  const std::string known = host->name + ": ";
  return public_name(*host) + (event.text.starts_with(known)
                                   ? ": " + event.text.substr(known.size())
                                   : "");
}

}  // namespace

bool is_shown_before(const TrainingRun* a, const TrainingRun* b) {
  bool a_runs = a->run.state == RunState::running;
  bool b_runs = b->run.state == RunState::running;
  return a_runs != b_runs ? a_runs : a->run.key > b->run.key;
}

void make_public(ProjectState& state, json& row) {
  row.erase("claim");
  const Host* host = state.hosts.host(row["host"].get<HostId>());
  if (host != nullptr) row["host_name"] = public_name(*host);
  if (row["outcome"] == name_of(ResultOutcome::client_error)) {
    row["reason"] = kHostFailed;
  }
}

std::string without_folders(const std::string& text, const fs::path& root) {
  constexpr std::string_view kEnds = " \t\n\"'`(),;";
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    std::size_t end = std::min(text.find_first_of(kEnds, at), text.size());
    std::string word = text.substr(at, end - at);
    bool is_path =
        word.starts_with('/') || word.starts_with(root.string() + "/");
    out += is_path ? word.substr(word.rfind('/') + 1) : word;
    if (end < text.size()) out += text[end];
    at = end + 1;
  }
  return out;
}

json run(ProjectState& state, const TrainingRun& training) {
  json row = status::run(state, training);
  // To the second it would be another page every second.
  constexpr double kMinuteSeconds = 60;
  row["seconds_at_work"] =
      kMinuteSeconds *
      std::floor(training.cursor.used.seconds_at_work / kMinuteSeconds);
  row["reason"] = without_folders(training.run.state_reason, state.folder.root);
  return row;
}

json runs(ProjectState& state) {
  std::vector<const TrainingRun*> all;
  for (const auto& [key, training] : state.runs) all.push_back(&training);
  json rows = json::array();
  for (const TrainingRun* training :
       first_of(std::move(all), kMostRuns, is_shown_before)) {
    rows.push_back(run(state, *training));
  }
  return {{"total", state.runs.size()}, {"rows", std::move(rows)}};
}

json hosts(ProjectState& state) {
  std::vector<const Host*> all;
  for (const auto& [id, host] : state.hosts.hosts()) all.push_back(&host);
  json rows = json::array();
  for (const Host* host :
       first_of(std::move(all), kMostHosts, has_more_credit<Host>)) {
    rows.push_back(public_host(state, *host));
  }
  return {{"total", state.hosts.hosts().size()}, {"rows", std::move(rows)}};
}

json users(ProjectState& state) {
  std::vector<const User*> all;
  for (const auto& [id, user] : state.hosts.users()) {
    if (id != kHouseUser && user.deleted == 0) all.push_back(&user);
  }
  std::size_t total = all.size();
  all = first_of(std::move(all), kMostUsers, has_more_credit<User>);
  std::map<UserId, std::size_t> owned;
  for (const auto& [id, host] : state.hosts.hosts()) ++owned[host.user_id];
  json rows = json::array();
  for (const User* user : all) {
    rows.push_back({{"id", user->id},
                    {"name", user->name},
                    {"credit", user->credit},
                    {"hosts", owned[user->id]},
                    {"created", user->created}});
  }
  return {{"total", total}, {"rows", std::move(rows)}};
}

json events(ProjectState& state) {
  std::map<std::tuple<std::string, RunKey, HostId>, std::size_t> places;
  json rows = json::array();
  for (const Event& event : state.store.events({kEventsRead})) {
    std::size_t place = rows.size();
    if (event.host != 0) {
      place = places.try_emplace({event.kind, event.run, event.host}, place)
                  .first->second;
    }
    if (place < rows.size()) {
      rows[place]["count"] = rows[place]["count"].get<std::uint64_t>() + 1;
    } else if (place < kMostEvents) {
      const Host* host = state.hosts.host(event.host);
      rows.push_back(status::event(state, event));
      if (host != nullptr) rows.back()["host"] = public_name(*host);
      rows.back()["text"] =
          without_folders(public_text(host, event), state.folder.root);
      rows.back()["count"] = 1;
    }
  }
  return rows;
}

}  // namespace quorate::page

#include "server/page/page_data.h"

#include <algorithm>
#include <iterator>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/json_fields.h"
#include "server/page/page_lists.h"
#include "server/page/status.h"

namespace quorate {
namespace {

using nlohmann::json;

constexpr Seconds kMadeEvery{1};
constexpr std::size_t kMostUnits = 20;
constexpr std::uint64_t kMostRejected = 20;

constexpr Millis kMinute = 60'000;

json closed_unit(ProjectState& state, const ClosedUnit& unit) {
  json replicas = json::array();
  for (const ClosedUnit::Replica& replica : unit.replicas) {
    const Host* host = state.hosts.host(replica.host);
    bool is_judged = replica.validate_state != ValidateState::init;
    bool is_over = replica.server_state == ServerState::over;
    const User* user = host ? state.hosts.user(host->user_id) : nullptr;
    replicas.push_back({{"host", host == nullptr ? "" : public_name(*host)},
                        {"user", user == nullptr ? "" : user->name},
                        {"state", is_judged ? name_of(replica.validate_state)
                                  : is_over ? name_of(replica.outcome)
                                            : name_of(replica.server_state)}});
  }
  return {{"unit", unit.unit_index},      {"base_version", unit.base_version},
          {"state", name_of(unit.state)}, {"created", unit.created},
          {"closed", unit.closed},        {"replicas", std::move(replicas)}};
}

// Of an open unit only what everybody who holds it knows. Its replicas show as
// sums over all units: one by one they would tell a cheat whether somebody
// checks its unit.
json units_of(ProjectState& state, RunKey run) {
  std::size_t open = 0;
  std::size_t waiting = 0;
  std::size_t computing = 0;
  std::size_t reported = 0;
  json oldest = json::array();
  for (const auto& [id, live] : state.feeder.units()) {
    if (live.unit.run != run || live.unit.state != WorkunitState::open) {
      continue;
    }
    if (++open <= kMostUnits) {
      oldest.push_back({{"unit", live.unit.unit_index},
                        {"base_version", live.unit.base_version},
                        {"samples", live.unit.samples},
                        {"created", live.unit.created}});
    }
    for (const Result& result : live.results) {
      waiting += result.server_state == ServerState::unsent;
      computing += result.server_state == ServerState::in_progress;
      reported += result.outcome == ResultOutcome::success;
    }
  }
  json closed = json::array();
  for (const ClosedUnit& unit : state.activity.closed(run)) {
    closed.push_back(closed_unit(state, unit));
  }
  return {{"open", open},
          {"waiting", waiting},
          {"computing", computing},
          {"reported", reported},
          {"oldest", std::move(oldest)},
          {"closed", std::move(closed)}};
}

json rejected_of(ProjectState& state, const TrainingRun& training) {
  json rows = status::rejected(state, training, {kMostRejected});
  for (json& row : rows) page::make_public(state, row);
  return rows;
}

json detailed_run(ProjectState& state, const TrainingRun& training) {
  json row = page::run(state, training);
  row["settings"] = status::settings(training.run);
  row["evaluations"] = training.evaluations.size();
  row["rejected"] = rejected_of(state, training);
  row["units"] = units_of(state, training.run.key);
  std::optional<double> left = seconds_left(
      training.run, training.evaluations, row["samples"].get<std::uint64_t>(),
      row["progress"].get<double>(), state.clock.unix_ms());
  row["seconds_left"] = left ? json(*left) : json(nullptr);
  return row;
}

// At most about kCurvePoints of them, the last always among them: a page has
// not more pixels.
std::vector<Evaluation> thinned(const std::vector<Evaluation>& all) {
  constexpr std::size_t kCurvePoints = 500;
  std::size_t stride = all.size() / kCurvePoints + 1;
  std::vector<Evaluation> some;
  for (std::size_t i = (all.size() + stride - 1) % stride; i < all.size();
       i += stride) {
    some.push_back(all[i]);
  }
  return some;
}

json curve_of(const TrainingRun& training) {
  json points = json::array();
  for (const Evaluation& evaluation : thinned(training.evaluations)) {
    points.push_back(status::evaluation(evaluation));
  }
  return {{"run", training.run.name}, {"points", std::move(points)}};
}

json activity_of(Activity& activity, Millis now) {
  json columns = {{"received", json::array()},
                  {"valid", json::array()},
                  {"rejected", json::array()},
                  {"bytes_in", json::array()},
                  {"bytes_out", json::array()}};
  const std::deque<MinuteCounts>& minutes = activity.minutes();
  for (const MinuteCounts& minute : minutes) {
    columns["received"].push_back(minute.received);
    columns["valid"].push_back(minute.valid);
    columns["rejected"].push_back(minute.rejected);
    columns["bytes_in"].push_back(minute.bytes_in);
    columns["bytes_out"].push_back(minute.bytes_out);
  }
  auto since = static_cast<Millis>(activity.into_minute().count() * 1000);
  columns["time"] = now;
  columns["first"] =
      now - since - static_cast<Millis>(minutes.size() - 1) * kMinute;
  return columns;
}

// The members of an object as JSON, without the braces.
std::string members_of(const json& object) {
  std::string text = dump_json(object);
  return text.substr(1, text.size() - 2);
}

}  // namespace

const std::string& SharedText::get(Instant now,
                                   const std::function<std::string()>& make) {
  if (!made_ || now - *made_ >= kMadeEvery) {
    text_ = make();
    made_ = now;
  }
  return text_;
}

RunKey PageData::choose(const std::string& name) const {
  const TrainingRun* best = nullptr;
  for (const auto& [key, training] : state_.runs) {
    if (training.run.name == name) return key;
    if (best == nullptr || page::is_shown_before(&training, best))
      best = &training;
  }
  return best == nullptr ? 0 : best->run.key;
}

std::string PageData::project_members() {
  return members_of({{"fingerprint", fingerprint(state_.keys.id)},
                     {"url", state_.settings.url},
                     {"status", status::summary(state_)},
                     {"runs", page::runs(state_)},
                     {"hosts", page::hosts(state_)},
                     {"users", page::users(state_)},
                     {"events", page::events(state_)}});
}

const std::string& PageData::members(RunKey run) {
  Instant now = state_.clock.now();
  return members_[run].get(now, [&] {
    const std::string& project =
        project_.get(now, [this] { return project_members(); });
    json row =
        run == 0 ? json(nullptr) : detailed_run(state_, state_.runs.at(run));
    return project + ",\"run\":" + dump_json(row);
  });
}

std::string PageData::status(RunKey run) {
  return fmt::format("{{\"time\":{},{}}}", state_.clock.unix_ms(),
                     members(run));
}

std::string PageData::time() const {
  return fmt::format("{{\"time\":{}}}", state_.clock.unix_ms());
}

const std::string& PageData::curve(RunKey run) {
  return curves_[run].get(state_.clock.now(), [&] {
    return dump_json(curve_of(state_.runs.at(run)));
  });
}

const std::string& PageData::activity() {
  return activity_.get(state_.clock.now(), [this] {
    return activity_of(state_.activity, state_.clock.unix_ms()).dump();
  });
}

const std::string& PageData::runs() {
  return runs_.get(state_.clock.now(), [this] {
    json rows = json::array();
    for (const auto& [key, training] : state_.runs) {
      rows.push_back(page::run(state_, training));
    }
    return dump_json(rows);
  });
}

const std::string& PageData::metrics() {
  return metrics_.get(state_.clock.now(),
                      [this] { return status::metrics(state_); });
}

std::optional<double> seconds_left(const Run& run,
                                   const std::vector<Evaluation>& evaluations,
                                   std::uint64_t samples, double progress,
                                   Millis now) {
  constexpr Millis kWindow = 10 * kMinute;
  if (run.state != RunState::running || progress <= 0) return std::nullopt;
  // From the first evaluation in the window, or the last one before it.
  Millis from_time = run.created;
  std::uint64_t from_samples = 0;
  for (auto e = evaluations.rbegin(); e != evaluations.rend(); ++e) {
    bool is_recent = e->time >= now - kWindow;
    if (is_recent || e == evaluations.rbegin()) {
      from_time = e->time;
      from_samples = e->samples;
    }
    if (!is_recent) break;
  }
  if (samples <= from_samples || now <= from_time) return std::nullopt;
  double pace = static_cast<double>(samples - from_samples) /
                static_cast<double>(now - from_time) * 1000;
  double left = static_cast<double>(samples) * (1 - progress) / progress;
  return left / pace;
}

}  // namespace quorate

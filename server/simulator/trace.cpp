#include "server/simulator/trace.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include <fmt/format.h>

#include "base/error.h"

namespace quorate {
namespace {

constexpr std::string_view kHeader = "time_s,event,host,unit";
constexpr std::size_t kMostNameBytes = 64;

std::string_view cut(std::string_view& line, char at) {
  const std::size_t end = std::min(line.find(at), line.size());
  const std::string_view field = line.substr(0, end);
  line.remove_prefix(std::min(end + 1, line.size()));
  return field;
}

// Spreadsheets end lines with two characters.
std::string_view cut_line(std::string_view& text) {
  std::string_view line = cut(text, '\n');
  if (line.ends_with('\r')) line.remove_suffix(1);
  return line;
}

template <class T>
bool read_number(std::string_view text, T& value) {
  const char* end = text.data() + text.size();
  auto [at, error] = std::from_chars(text.data(), end, value);
  return error == std::errc() && at == end && !text.empty();
}

bool read_line(std::string_view line, TraceEvent& event) {
  double time = 0;
  if (!read_number(cut(line, ','), time)) return false;
  const std::string_view kind = cut(line, ',');
  event.host = cut(line, ',');
  event.time = Seconds(time);
  event.is_report = kind == "report";
  return (event.is_report || kind == "ask") && time >= 0 && time < 1e9 &&
         !event.host.empty() && event.host.size() <= kMostNameBytes &&
         read_number(line, event.unit);
}

Hash hash_of(std::uint64_t seed, const std::string& name) {
  return sha256(as_bytes(fmt::format("simulated host {} {}", seed, name)));
}

}  // namespace

std::vector<TraceEvent> parse_trace(const std::string& text,
                                    const std::string& place) {
  std::string_view rest = text;
  std::vector<TraceEvent> trace;
  if (cut_line(rest) != kHeader) {
    throw Error(ErrorKind::usage,
                fmt::format("{}: line 1: expected \"{}\"", place, kHeader));
  }
  for (std::size_t number = 2; !rest.empty(); ++number) {
    TraceEvent event;
    if (!read_line(cut_line(rest), event)) {
      throw Error(ErrorKind::usage,
                  fmt::format("{}: line {}: expected seconds, \"ask\" or "
                              "\"report\", the host's name, the unit's number, "
                              "as in 12.5,ask,laptop,7",
                              place, number));
    }
    if (!trace.empty() && event.time < trace.back().time) {
      throw Error(
          ErrorKind::usage,
          fmt::format(
              "{}: line {}: expected a time no earlier than on the line above",
              place, number));
    }
    trace.push_back(std::move(event));
  }
  return trace;
}

TracePlayer::TracePlayer(std::vector<TraceEvent> trace,
                         SimulatedProject& project, Gradients& gradients,
                         HostReports& reports, Counters& counters,
                         std::uint64_t seed)
    : trace_(std::move(trace)),
      project_(project),
      gradients_(gradients),
      reports_(reports),
      counters_(counters),
      seed_(seed) {}

void TracePlayer::happen() {
  const TraceEvent& event = trace_[next_++];
  ++counters_.requests;
  if (event.is_report) {
    report(event);
  } else {
    ask(event);
  }
}

TracePlayer::Known& TracePlayer::host_of(const std::string& name) {
  auto known = hosts_.find(name);
  if (known != hosts_.end()) return known->second;
  Host host;
  PrivateKey key = PrivateKey::from_seed(hash_of(seed_, name).view());
  host.key = key.public_key();
  host.name = name;
  host.has_chosen_name = true;
  host.door = kNativeDoor;
  host.platform = "simulated";
  HostId id = 0;
  project_.job([&] {
    HostTable& hosts = project_.state().hosts;
    const Millis time = project_.state().clock.unix_ms();
    // Each of its own user: the host's key will do for both.
    hosts.register_user(host.key, name, time);
    id = hosts.register_host(host, host.key, time).id;
  });
  return hosts_.emplace(name, Known{id, std::move(key), {}, {}}).first->second;
}

void TracePlayer::ask(const TraceEvent& event) {
  Known& host = host_of(event.host);
  WorkWish request;
  request.want = 1;
  request.device = "cpu";
  for (const auto& [unit, result] : host.results) {
    request.holding.push_back(result);
  }
  WorkAnswer reply;
  project_.job([&] {
    // It does not wait, so it is answered when the job is done.
    project_.daemons().scheduler.request_work(
        host.host, request,
        [&reply](WorkAnswer answer) { reply = std::move(answer); });
  });
  std::optional<OpenResult> open;
  if (!reply.assignments.empty()) {
    open = project_.state().open_results.find(reply.assignments[0].result);
  }
  if (!open || open->task->unit_index != event.unit) {
    throw Error(
        ErrorKind::usage,
        fmt::format(
            "trace: at {} s {} got unit {}, but the simulated server gives it "
            "{}",
            event.time.count(), event.host, event.unit,
            open ? fmt::format("unit {}", open->task->unit_index) : "none"));
  }
  ++counters_.assignments;
  host.results[event.unit] = open->id;
  host.workunits[event.unit] = open->workunit;
  gradients_.begin(open->workunit, event.time);
}

void TracePlayer::report(const TraceEvent& event) {
  Known& host = host_of(event.host);
  auto result = host.results.find(event.unit);
  if (result == host.results.end()) {
    throw Error(ErrorKind::usage,
                fmt::format("trace: at {} s {} reports unit {}, which it "
                            "never asked for",
                            event.time.count(), event.host, event.unit));
  }
  ++counters_.reports;
  if (!reports_.report(host.host, result->second, &host.key, Falsehood::none,
                       0)) {
    ++counters_.refused;
  }
  gradients_.end(host.workunits.at(event.unit));
  host.workunits.erase(event.unit);
  host.results.erase(result);
}

}  // namespace quorate

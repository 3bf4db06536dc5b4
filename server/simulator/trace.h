// A recorded course of events: who asked, and who reported, in which order. The
// simulated server is taken through the same.
//
// A CSV file with the header "time_s,event,host,unit" and lines in order of
// time. event: "ask", after which the host has the unit with this index, or
// "report". host: any word; hosts join when they first ask.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "server/simulator/counters.h"
#include "server/simulator/gradients.h"
#include "server/simulator/host_reports.h"
#include "server/simulator/simulated_project.h"

namespace quorate {

struct TraceEvent {
  Seconds time{0};
  bool is_report = false;
  std::string host;
  std::uint64_t unit = 0;
};

// Throws usage, naming place and line, for what is no such file.
std::vector<TraceEvent> parse_trace(const std::string& text,
                                    const std::string& place);

class TracePlayer {
 public:
  TracePlayer(std::vector<TraceEvent> trace, SimulatedProject& project,
              Gradients& gradients, HostReports& reports, Counters& counters,
              std::uint64_t seed);

  bool is_empty() const { return next_ == trace_.size(); }
  Seconds next_time() const { return trace_[next_].time; }
  // The next of them. Throws usage if the server hands out another unit than
  // it did then, naming both.
  void happen();

 private:
  struct Known {
    HostId host = 0;
    PrivateKey key;
    std::map<std::uint64_t, ResultId> results;  // by unit
    std::map<std::uint64_t, Hash> workunits;
  };

  Known& host_of(const std::string& name);
  void ask(const TraceEvent& event);
  void report(const TraceEvent& event);

  std::vector<TraceEvent> trace_;
  std::size_t next_ = 0;
  SimulatedProject& project_;
  Gradients& gradients_;
  HostReports& reports_;
  Counters& counters_;
  std::uint64_t seed_;
  std::map<std::string, Known> hosts_;
};

}  // namespace quorate

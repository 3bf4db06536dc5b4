#include "server/simulator/recording.h"

#include <fmt/format.h>

namespace quorate {
namespace {

constexpr const char* kHeader =
    "time_s,hosts,version,results,samples,open_units,requests,assignments,"
    "reports,refused,given_up,machines_lost,bytes_down,bytes_up,computing_s,"
    "present_s,cost";

std::string row(const Moment& moment) {
  const Counters& c = moment.counters;
  return fmt::format(
      "{:.3f},{},{},{},{},{},{},{},{},{},{},{},{},{},{:.3f},"
      "{:.3f},{:.6f}",
      moment.time.count(), moment.hosts, moment.version, moment.assimilated,
      moment.samples, moment.open_units, c.requests, c.assignments, c.reports,
      c.refused, c.given_up, c.machines_lost, c.bytes_down, c.bytes_up,
      c.computing.count(), c.present.count(), c.cost);
}

}  // namespace

std::string moments_csv(const Recording& recording) {
  std::string text = fmt::format("{}\n", kHeader);
  for (const Moment& moment : recording.moments) text += row(moment) + "\n";
  return text;
}

std::string scores_csv(const Recording& recording) {
  std::string text = fmt::format("{},loss,accuracy\n", kHeader);
  for (const PublishedScore& score : recording.scores) {
    text += fmt::format("{},{:.9g},{:.9g}\n", row(score.moment), score.loss,
                        score.accuracy);
  }
  return text;
}

}  // namespace quorate

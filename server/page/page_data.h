// What the page shows, as JSON: made when somebody looks, at most once a
// second, and shared by all who look. Of what a project may have many of it
// holds the first and says how many there are, so that its size is bounded
// (docs/protocol.md, "The page's data"). Nothing in it tells who computes a
// unit before the unit's verdict (docs/validation.md). Used by the writer's
// thread only.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>

#include "server/state/project_state.h"

namespace quorate {

// A text that is made anew when it is asked for a second later.
class SharedText {
 public:
  const std::string& get(Instant now, const std::function<std::string()>& make);

 private:
  std::optional<Instant> made_;
  std::string text_;
};

class PageData {
 public:
  explicit PageData(ProjectState& state) : state_(state) {}

  // The run of that name, else the newest that goes on, else the newest; 0
  // when there is none.
  RunKey choose(const std::string& name) const;

  // The members of the status without its time, so that they are equal when
  // nothing happened: the project, and the run in full.
  const std::string& members(RunKey run);
  // {time, ...members}
  std::string status(RunKey run);
  // {time}
  std::string time() const;

  // Evaluations of a run, thinned to what a chart can show: {run, points}.
  const std::string& curve(RunKey run);
  // Counts of each minute of the last day.
  const std::string& activity();
  // Every run, as `quorate train list --json`, without paths.
  const std::string& runs();
  const std::string& metrics();

 private:
  std::string project_members();

  ProjectState& state_;
  SharedText project_;
  SharedText activity_;
  SharedText runs_;
  SharedText metrics_;
  std::map<RunKey, SharedText> members_;
  std::map<RunKey, SharedText> curves_;
};

// Seconds until all of a run's samples are in the model, at the pace of the
// last ten minutes; nullopt when there is no pace. evaluations: in order;
// samples: in the model now; progress: share of all samples handed out.
std::optional<double> seconds_left(const Run& run,
                                   const std::vector<Evaluation>& evaluations,
                                   std::uint64_t samples, double progress,
                                   Millis now);

}  // namespace quorate

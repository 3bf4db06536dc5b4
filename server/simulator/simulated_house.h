// The server's own workers in a simulation.
#pragma once

#include <vector>

#include "server/simulator/gradients.h"
#include "server/simulator/host_reports.h"
#include "server/simulator/simulated_project.h"

namespace quorate {

class SimulatedHouse {
 public:
  SimulatedHouse(SimulatedProject& project, Gradients& gradients,
                 HostReports& reports, double speed_flops);

  // Reports what was done by now, and takes what there is to do. To be called
  // at every tick.
  void tick(Seconds now);

 private:
  struct Worker {
    std::optional<ResultId> result;
    Hash workunit;
    Seconds until{0};
  };

  void finish(Worker& worker);
  void begin(Worker& worker, Seconds now);

  SimulatedProject& project_;
  Gradients& gradients_;
  HostReports& reports_;
  double speed_flops_;
  std::vector<Worker> workers_;
};

}  // namespace quorate

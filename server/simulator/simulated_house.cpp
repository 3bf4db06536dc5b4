#include "server/simulator/simulated_house.h"

namespace quorate {

SimulatedHouse::SimulatedHouse(SimulatedProject& project, Gradients& gradients,
                               HostReports& reports, double speed_flops)
    : project_(project),
      gradients_(gradients),
      reports_(reports),
      speed_flops_(speed_flops),
      workers_(project.state().settings.house_workers) {}

void SimulatedHouse::tick(Seconds now) {
  for (Worker& worker : workers_) {
    if (worker.result && worker.until <= now) finish(worker);
    if (!worker.result) begin(worker, now);
  }
}

void SimulatedHouse::finish(Worker& worker) {
  reports_.report(project_.state().house_host, *worker.result,
                  &project_.keys().house, Falsehood::none, 0);
  gradients_.end(worker.workunit);
  worker.result.reset();
}

void SimulatedHouse::begin(Worker& worker, Seconds now) {
  std::optional<Assignment> assignment;
  project_.job(
      [&] { assignment = project_.daemons().scheduler.work_for_house(); });
  if (!assignment) return;
  const auto open =
      project_.state().open_results.find(assignment->result).value();
  const double operations = training_operations(open.task->model) *
                            static_cast<double>(open.task->range.samples());
  worker.result = assignment->result;
  worker.workunit = open.workunit;
  worker.until = now + Seconds(operations / speed_flops_);
  gradients_.begin(worker.workunit, worker.until);
}

}  // namespace quorate

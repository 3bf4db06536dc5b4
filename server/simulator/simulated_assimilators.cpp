#include "server/simulator/simulated_assimilators.h"

namespace quorate {

SimulatedAssimilators::SimulatedAssimilators(const AssimilatorTimes& times,
                                             SimulatedProject& project)
    : times_(times), project_(project) {
  project_.daemons().assimilator.set_helpers(this);
}

SimulatedAssimilators::~SimulatedAssimilators() {
  project_.daemons().assimilator.set_helpers(nullptr);
}

void SimulatedAssimilators::start(StepPart part, const Run&, WorkunitId unit,
                                  Job work, Job done) {
  work();
  if (part == StepPart::prepare) begun_.try_emplace(unit, now_);
  const Seconds takes = part == StepPart::prepare
                            ? times_.prepare
                            : times_.read + times_.step + times_.write;
  planned_.emplace(std::pair(now_ + takes, ++order_), std::move(done));
}

void SimulatedAssimilators::happen(Seconds now) {
  now_ = now;
  auto next = planned_.extract(planned_.begin());
  project_.job([&] { next.mapped()(); });
  std::erase_if(begun_, [&](const auto& begun) {
    const LiveUnit* live = project_.state().feeder.find(begun.first);
    if (live != nullptr && live->unit.state == WorkunitState::validated) {
      return false;
    }
    ++updates_;
    busy_ += now - begun.second;
    return true;
  });
}

}  // namespace quorate

// A simulated host's report of a unit, as the native door would have taken it.
#pragma once

#include "base/crypto.h"
#include "server/simulator/gradients.h"
#include "server/simulator/scenario/scenario.h"
#include "server/simulator/simulated_project.h"

namespace quorate {

class HostReports {
 public:
  // With has_gradients headers are signed and screened, updates read. Without,
  // reports are taken for well-formed: their cost is the scheduler's alone.
  HostReports(SimulatedProject& project, Gradients& gradients,
              bool has_gradients)
      : project_(project),
        gradients_(gradients),
        has_gradients_(has_gradients) {}

  // key: the host's; not used without gradients. salt: makes falsehoods
  // different. True if the result is stored and may count.
  bool report(HostId host, ResultId result, const PrivateKey* key,
              Falsehood falsehood, std::uint64_t salt);

 private:
  ScreenedReport screened(OpenResult& open, const PrivateKey* key,
                          Falsehood falsehood, std::uint64_t salt);

  SimulatedProject& project_;
  Gradients& gradients_;
  bool has_gradients_;
};

}  // namespace quorate

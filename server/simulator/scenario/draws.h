// A simulation's random numbers: the same for the same seed, whatever else
// happens. Each host has its own.
#pragma once

#include <cstdint>

#include "base/clock.h"
#include "server/simulator/scenario/scenario.h"

namespace quorate {

class Draws {
 public:
  // Different for every (seed, whose): a host's number, or a number of our own
  // for draws that are no host's.
  Draws(std::uint64_t seed, std::uint32_t whose) : seed_(seed), whose_(whose) {}

  std::uint64_t word();
  double uniform();  // in [0, 1)
  bool happens(double share) { return share > 0 && uniform() < share; }
  // Of mean 0 and deviation 1; and exp of a normal one, as Spread has it.
  double normal();
  double of(const Spread& spread);
  Seconds exponential(Seconds mean);

 private:
  std::uint64_t seed_;
  std::uint64_t index_ = 0;
  std::uint32_t whose_;
};

}  // namespace quorate

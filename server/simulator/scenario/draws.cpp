#include "server/simulator/scenario/draws.h"

#include <cmath>
#include <numbers>

#include "base/random.h"

namespace quorate {

std::uint64_t Draws::word() {
  constexpr std::uint32_t kStream = stream_of(RandomUse::simulation);
  const std::uint64_t high = random_word(seed_, kStream, whose_, index_++);
  return high << 32 | random_word(seed_, kStream, whose_, index_++);
}

double Draws::uniform() {
  return static_cast<double>(word() >> 11) * 0x1p-53;
}

// Box and Muller's, of which one of the two is enough.
double Draws::normal() {
  const double radius = std::sqrt(-2 * std::log(1 - uniform()));
  return radius * std::cos(2 * std::numbers::pi * uniform());
}

double Draws::of(const Spread& spread) {
  if (spread.sigma == 0) return spread.median;
  return spread.median * std::exp(spread.sigma * normal());
}

Seconds Draws::exponential(Seconds mean) {
  return mean * -std::log(1 - uniform());
}

}  // namespace quorate

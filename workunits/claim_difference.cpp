#include "workunits/claim_difference.h"

#include <algorithm>

#include <fmt/format.h>

namespace quorate {

std::optional<std::uint32_t> differing_digest(const Claim& claim,
                                              std::span<const Hash> digests) {
  for (std::uint32_t i = 0; i < digests.size(); ++i) {
    if (i >= claim.digests.size() || claim.digests[i] != digests[i]) return i;
  }
  return std::nullopt;
}

std::optional<std::uint32_t> difference(const Claim& claim,
                                        const Claim& computed) {
  if (claim == computed) return std::nullopt;
  const auto differing = differing_digest(claim, computed.digests);
  return differing.value_or(
      static_cast<std::uint32_t>(computed.digests.size()));
}

// A claim that ends early, or goes on where the training diverged, differs in
// the stretch after the last digest that they share.
Stretch stretch_of(std::uint32_t digest, const TrainingTask& task) {
  Stretch stretch;
  const std::uint64_t before = std::uint64_t{digest} * task.digest_every;
  const std::uint64_t steps = task.range.steps;
  stretch.first_step = static_cast<std::uint32_t>(std::min(before + 1, steps));
  stretch.last_step =
      static_cast<std::uint32_t>(std::min(before + task.digest_every, steps));
  return stretch;
}

std::string text_of(const Stretch& stretch) {
  if (stretch.first_step == stretch.last_step) {
    return fmt::format("in step {}", stretch.first_step);
  }
  return fmt::format("from a step between {} and {} on", stretch.first_step,
                     stretch.last_step);
}

}  // namespace quorate

// How good a model is on samples that it was not trained on.
#pragma once

#include <cstdint>
#include <span>

#include "kernels/backend.h"
#include "workunits/models/model_spec.h"
#include "workunits/training/samples.h"

namespace quorate {

struct Score {
  std::uint64_t correct = 0;
  std::uint64_t samples = 0;  // targets: of a text its tokens
  float loss = 0.0F;          // mean over them

  bool operator==(const Score&) const = default;
};

// parameters: in declared order. Exact: every device gives the same bits. The
// loss is div(R1 sum of the samples' losses, samples). Throws corrupt if
// parameters or shard do not fit the model, unsupported or io as Model does.
Score evaluate(const ModelSpec& model, std::span<const float> parameters,
               const Samples& samples, Backend& backend);

}  // namespace quorate

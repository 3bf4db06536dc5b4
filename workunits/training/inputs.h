// What a model needs of the parameters and samples that it is given.
#pragma once

#include <span>
#include <string>

#include "workunits/model_spec.h"
#include "workunits/shard.h"

namespace quorate {

// Throws corrupt, naming `what`, unless there is a value for every parameter
// of the model, and every sample has the model's inputs and a label below its
// classes.
void check_inputs(const ModelSpec& model, std::span<const float> parameters,
                  const ShardView& shard, const std::string& what);

}  // namespace quorate

// Parameters as PyTorch names and lays them out, for other programs to load.
#pragma once

#include <map>
#include <span>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "workunits/models/model_spec.h"

namespace quorate {

// A container like write_parameters(), but as load_state_dict() of the same
// torch.nn.Sequential takes it: weights of convolutions are [out, in, height,
// width], and the columns of a linear layer after a flatten are in the order
// channel, row, column, since PyTorch keeps images so. values: in declared
// order. Throws unsupported for a list of layers with others than activations
// between a flatten and the next linear layer.
Bytes write_for_pytorch(const ModelSpec& model, std::span<const float> values,
                        const std::map<std::string, std::string>& metadata);

// The values that write_for_pytorch() made these bytes of, in declared order.
// Throws corrupt, naming `what` and the tensor, unless they are that model's.
std::vector<float> read_from_pytorch(const ModelSpec& model, ByteView bytes,
                                     const std::string& what);

}  // namespace quorate

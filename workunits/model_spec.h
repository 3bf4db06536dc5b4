// The network as data: names, shapes, initial bounds and operation counts of
// its tensors. Needs no kernels, so the server can create, screen, credit and
// export a model without linking them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace quorate {

// A family and its sizes. mlp: widths = {inputs, hidden..., classes}.
struct ModelSpec {
  std::string family;
  std::vector<std::uint32_t> widths;

  bool operator==(const ModelSpec&) const = default;
};

// One parameter tensor. Name and layout are PyTorch's, so that an export needs
// no conversion: a linear layer's weight is [out, in].
struct TensorSpec {
  std::string name;
  std::vector<std::uint32_t> shape;
  // Initial values are uniform in [-bound, bound): 1 / sqrt(fan in).
  float bound = 0.0F;

  std::uint64_t size() const;  // elements
};

// Reads "mlp" (one hidden layer of 256), "mlp:512,128" (hidden widths) or
// "mlp:none" (no hidden layer) for samples of `inputs` values and `classes`
// classes. Throws usage, listing what is known, for anything else.
ModelSpec parse_model(const std::string& text, std::uint32_t inputs,
                      std::uint32_t classes);
// The text form of the same, "mlp:256".
std::string name_of(const ModelSpec& model);

// JSON, as it stands in tasks and ledgers. Reading throws corrupt, also for
// sizes beyond what we can train (widths 1 to 2^20, 2 to 64 of them; 2^30
// parameters).
std::string to_json(const ModelSpec& model);
ModelSpec model_from_json(const std::string& text);

// The parameters in declared order: the order of snapshots, digests, updates.
std::vector<TensorSpec> parameters_of(const ModelSpec& model);
// Elements of all of them.
std::uint64_t parameter_count(const ModelSpec& model);
std::uint32_t inputs_of(const ModelSpec& model);
std::uint32_t classes_of(const ModelSpec& model);

// Floating-point operations (a product and its sum count as two) of one
// training sample: forward, and both products of the backward pass; the first
// layer has no second one, since samples need no gradient.
double training_operations(const ModelSpec& model);

// The initial parameters, in declared order: Philox stream `initialization`
// with index = tensor, under the run's seed (docs/numerics.md).
std::vector<float> initial_parameters(const ModelSpec& model,
                                      std::uint64_t seed);

}  // namespace quorate

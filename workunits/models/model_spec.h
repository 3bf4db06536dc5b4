// The network as data: names, shapes, initial bounds and operation counts of
// its tensors. Needs no kernels, so the server can create, screen, credit and
// export a model without linking them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "workunits/models/layer_spec.h"
#include "workunits/models/layer_tensors.h"
#include "workunits/models/sample_shape.h"

namespace quorate {

// A family and its sizes; what they mean, each family says (workunits/models).
struct ModelSpec {
  std::string family;
  std::vector<std::uint32_t> widths;  // the last: classes, or symbols
  // Of images; of a text, one row of as many tokens as a sample has; zeros if
  // the family takes vectors.
  SampleShape input{};
  std::vector<std::uint32_t> blocks{};  // resnet
  Norm norm = Norm::group;              // resnet: group or batch
  std::uint32_t depth = 0;              // gpt: layers
  std::uint32_t heads = 0;              // gpt
  bool is_tied = false;                 // gpt: of the head
  std::string list{};                   // layers: them, as JSON

  bool operator==(const ModelSpec&) const = default;
};

// Reads "mlp:512,128", "lenet", "resnet-20", "layers {...}" and so on for such
// samples and `classes` classes. Throws usage for anything else, saying what is
// known, and for samples that the model cannot take.
ModelSpec parse_model(const std::string& text, const SampleShape& sample,
                      std::uint32_t classes);
// The same for a text of `symbols` symbols: "gpt:layers=6,width=384".
ModelSpec parse_text_model(const std::string& text, std::uint32_t symbols);
// The text form of the same, "mlp:256", "lenet".
std::string name_of(const ModelSpec& model);
// The same, but a list of layers by its family's name alone.
std::string title_of(const ModelSpec& model);

// A model that takes more as JSON is none. All that carries one has room for so
// much: tasks, ledgers, offers, messages to workers.
inline constexpr std::size_t kMaxModelBytes = 48 << 10;

// JSON, as it stands in tasks and ledgers. Reading throws corrupt, also for
// sizes beyond what we can train (widths 1 to 2^20; 2^24 values between
// layers; 2^30 parameters).
std::string to_json(const ModelSpec& model);
ModelSpec model_from_json(const std::string& text);

// The layers in order. Throws unsupported for a family that is not known.
std::vector<LayerSpec> layers_of(const ModelSpec& model);
// Whether samples are tokens, and each of them has a target: the next one.
bool takes_text(const ModelSpec& model);
// Targets of one sample, each with a row of classes.
std::uint32_t targets_of(const ModelSpec& model);
// The parameters in declared order: the order of snapshots, digests, updates.
// What is learned by gradients comes first; running statistics follow, and are
// parameters wherever nothing else is said.
std::vector<TensorSpec> parameters_of(const ModelSpec& model);
// Elements of all of them, of those that are learned, and of the others.
std::uint64_t parameter_count(const ModelSpec& model);
std::uint64_t trainable_count(const ModelSpec& model);
std::uint64_t statistic_count(const ModelSpec& model);
std::uint32_t inputs_of(const ModelSpec& model);
std::uint32_t classes_of(const ModelSpec& model);
// Empty if the model can take samples of this shape, else what is wrong:
// "expected samples of 28 x 28 x 1, found 32 x 32 x 3".
std::string misfit_of(const ModelSpec& model, const SampleShape& sample);

// Floating-point operations (a product and its sum count as two) of one
// training sample: forward, and both products of the backward pass; the first
// layer has no second one, since samples need no gradient. Only linear layers
// and convolutions count.
double training_operations(const ModelSpec& model);

// The initial parameters, in declared order: Philox stream `initialization`
// with index = tensor, under the run's seed (docs/numerics.md).
std::vector<float> initial_parameters(const ModelSpec& model,
                                      std::uint64_t seed);

}  // namespace quorate

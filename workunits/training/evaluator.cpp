#include "workunits/training/evaluator.h"

#include <algorithm>
#include <numeric>
#include <vector>

#include <fmt/format.h>

#include "base/arithmetic.h"
#include "base/error.h"
#include "kernels/float_environment.h"
#include "workunits/training/model.h"

namespace quorate {
namespace {

// Samples at a time: enough for full speed, few enough for the cache, and for
// what a sequence needs.
std::size_t batch_for(const ModelSpec& model) {
  constexpr std::size_t kTargets = 256;
  return takes_text(model)
             ? std::max<std::size_t>(1, 8 * kTargets / targets_of(model))
             : kTargets;
}

}  // namespace

Score evaluate(const ModelSpec& model, std::span<const float> parameters,
               const Samples& all, Backend& backend) {
  if (parameters.size() != parameter_count(model)) {
    throw Error(ErrorKind::corrupt,
                fmt::format("evaluation: snapshot: expected {} parameters, "
                            "found {}",
                            parameter_count(model), parameters.size()));
  }
  Samples samples = all;
  samples.check_fit(model, "evaluation");
  const std::size_t most = batch_for(model);
  const std::size_t each = targets_of(model);
  Model network(model, most, backend, Purpose::evaluation);
  backend.upload(network.parameters(), parameters);
  Tensor batch_losses = backend.tensor({most * each});
  Tensor unused = backend.tensor({most * each, classes_of(model)});
  std::vector<float> losses(samples.count() * each);
  std::vector<std::uint32_t> indices;
  std::vector<std::uint32_t> targets;
  Score score{.samples = losses.size()};
  for (std::size_t first = 0; first < samples.count(); first += most) {
    indices.resize(std::min(most, samples.count() - first));
    std::iota(indices.begin(), indices.end(),
              static_cast<std::uint32_t>(first));
    samples.load(indices, /*shift=*/0, backend, network, targets);
    ConstView logits = network.forward(indices.size());
    View of_batch = batch_losses.view().part(0, {targets.size()});
    // The gradient comes with the losses and is not used.
    backend.softmax_cross_entropy(
        logits, targets, 1.0F, of_batch,
        unused.view().part(0, {targets.size(), classes_of(model)}));
    backend.download(of_batch,
                     std::span(losses).subspan(first * each, targets.size()));
    score.correct += backend.count_correct(logits, targets);
  }
  CanonicalFloatMode mode;
  score.loss = sum_r1(losses) / static_cast<float>(losses.size());
  return score;
}

}  // namespace quorate

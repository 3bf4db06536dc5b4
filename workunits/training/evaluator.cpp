#include "workunits/training/evaluator.h"

#include <algorithm>
#include <vector>

#include "base/arithmetic.h"
#include "kernels/float_environment.h"
#include "workunits/training/inputs.h"
#include "workunits/training/model.h"

namespace quorate {

Score evaluate(const ModelSpec& model, std::span<const float> parameters,
               const ShardView& shard, Backend& backend) {
  check_inputs(model, parameters, shard, "evaluation");
  // Large enough for full speed, small enough for the cache.
  constexpr std::size_t kBatch = 256;
  Model network(model, kBatch, backend);
  backend.upload(network.parameters(), parameters);
  Tensor batch_losses = backend.tensor({kBatch});
  std::size_t size = shard.shape.size();
  std::vector<float> losses(shard.samples);
  Score score{.samples = shard.samples};
  for (std::size_t first = 0; first < shard.samples; first += kBatch) {
    std::size_t batch = std::min<std::size_t>(kBatch, shard.samples - first);
    auto labels = shard.labels.subspan(first, batch);
    std::vector<std::uint32_t> targets(labels.begin(), labels.end());
    backend.upload_pixels(network.input(batch),
                          shard.images.subspan(first * size, batch * size));
    ConstView logits = network.forward(batch);
    View of_batch = batch_losses.view().part(0, {batch});
    // The gradient comes with the losses and is not used.
    backend.softmax_cross_entropy(logits, targets, 1.0F, of_batch,
                                  network.output_gradient(batch));
    backend.download(of_batch, std::span(losses).subspan(first, batch));
    score.correct += backend.count_correct(logits, targets);
  }
  CanonicalFloatMode mode;
  score.loss = sum_r1(losses) / static_cast<float>(shard.samples);
  return score;
}

}  // namespace quorate

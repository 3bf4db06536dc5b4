// Whole networks on every device: loss, every gradient and all running
// statistics of one step, and everything that a unit of 100 steps claims.
#include <cstdlib>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "base/arithmetic.h"
#include "kernels/devices/backends.h"
#include "tests/training/samples.h"
#include "workunits/training/loss.h"
#include "workunits/training/trainer.h"

namespace quorate {
namespace {

constexpr std::uint32_t kSymbols = 11;

struct Network {
  const char* name;
  const char* text;   // as --model takes it
  SampleShape image;  // zeros: it is for text
  std::uint32_t batch;
  // The claim of a unit of 100 steps; the same on every device for ever.
  const char* claim;
};

constexpr Network kNetworks[] = {
    {"lenet",
     "lenet",
     {14, 13, 2},
     8,
     "95357885f2917a8fa2d0c1e51184df4b19d2273b5c825d8e1ca93cc058ed5be5"},
    {"resnet-8",
     "resnet-8",
     {8, 7, 3},
     8,
     "695890b3d3e6fbc6b96540e30284c803b47b40414ceebd22dadc57f6e6ef2fe9"},
    {"resnet-20",
     "resnet-20",
     {8, 8, 3},
     4,
     "c2bc16de12d2e6dc7fac13b0cb9409d904ad82f35a0e837b08d3a3e284181011"},
    {"resnet-8 with batch norm",
     "resnet-8:norm=batch",
     {8, 7, 3},
     8,
     "3ba5a7be387de5aef694d03c0c5643e3646139e22ae69212c66ef34811f1da9f"},
    {"gpt",
     "gpt:layers=4,width=32,heads=4,context=70",
     {},
     3,
     "ba31c3f5f8c51cec34b88a8d9a113127a474defc6bdb55c1a5a39c32f6a1bcc3"}};

TrainingTask task_of(const Network& network, std::uint32_t steps) {
  bool is_text = network.image.size() == 0;
  TrainingTask task =
      is_text ? test::text_task(steps) : test::pattern_task(steps);
  task.model = is_text ? parse_text_model(network.text, kSymbols)
                       : parse_model(network.text, network.image, 3);
  task.range.shard_samples = is_text ? 40 : 512;
  task.range.first = 0;
  task.range.batch = network.batch;
  task.inverse_batch = inverse_batch(task.model, network.batch);
  return task;
}

// A task of 100 steps and a shard that has samples for them.
TrainingTask long_task(const Network& network) {
  TrainingTask task = task_of(network, 100);
  task.range.shard_samples = 100 * network.batch;
  return task;
}

std::string claim_of(const TrainingTask& task, Backend& backend) {
  test::TaskShard shard(task);
  Trainer trainer(task, initial_parameters(task.model, 11), shard.view(),
                  backend);
  return claim_hash(test::finish(trainer).claim).hex();
}

// The loss, the gradients and the running statistics of the first batch.
std::vector<float> first_step(const TrainingTask& task, Backend& backend) {
  test::TaskShard shard(task);
  Model model(task.model, task.range.batch, backend);
  backend.upload(model.parameters(), initial_parameters(task.model, 11));
  std::vector<std::uint32_t> indices;
  std::vector<std::uint32_t> targets;
  for (std::uint32_t i = 0; i < task.range.batch; ++i) indices.push_back(i);
  Samples samples = shard.view();
  samples.load(indices, 0, backend, model, targets);
  Tensor losses = backend.tensor({targets.size()});
  model.begin_step(task.unit_seed, 0);
  std::vector<float> found = {softmax_cross_entropy(
      backend, model.forward(task.range.batch), targets, task.inverse_batch,
      losses.view(), model.output_gradient(task.range.batch))};
  model.backward(task.range.batch);
  // Gradients take the place of what is learned.
  std::vector<float> values(parameter_count(task.model));
  backend.download(model.parameters(), values);
  backend.download(model.gradients(),
                   std::span(values).first(trainable_count(task.model)));
  found.insert(found.end(), values.begin(), values.end());
  return found;
}

// The tensor to which an element of first_step() belongs, or "".
std::string first_difference(const ModelSpec& model,
                             const std::vector<float>& expected,
                             const std::vector<float>& found) {
  if (bits(expected[0]) != bits(found[0])) return "loss";
  std::size_t at = 1;
  for (const TensorSpec& tensor : parameters_of(model)) {
    for (std::uint64_t i = 0; i < tensor.size(); ++i, ++at) {
      if (bits(expected[at]) != bits(found[at])) return tensor.name;
    }
  }
  return "";
}

}  // namespace

TEST_CASE("the first step of a network is that of the reference") {
  for (const Network& network : kNetworks) {
    CAPTURE(network.name);
    TrainingTask task = task_of(network, 1);
    auto reference = make_backend("reference");
    std::vector<float> expected = first_step(task, *reference);
    for (const DeviceInfo& device : list_devices()) {
      for (unsigned threads : {1U, 2U, 3U}) {
        CAPTURE(device.name);
        CAPTURE(threads);
        auto backend = make_backend(device.name, threads);
        CHECK(first_difference(task.model, expected,
                               first_step(task, *backend)) == "");
        if (!device.name.starts_with("cpu")) break;  // has no threads
      }
    }
  }
}

TEST_CASE("a hundred steps of a network have one claim") {
  const bool is_long = std::getenv("QUORATE_LONG") != nullptr;
  for (const Network& network : kNetworks) {
    TrainingTask task = long_task(network);
    for (const DeviceInfo& device : list_devices()) {
      // Plain loops take a minute; the first step is theirs always.
      if (device.name == "reference" && !is_long) continue;
      for (unsigned threads : {1U, 3U}) {
        CAPTURE(network.name);
        CAPTURE(device.name);
        CAPTURE(threads);
        auto backend = make_backend(device.name, threads);
        CHECK(claim_of(task, *backend) == network.claim);
        if (!device.name.starts_with("cpu")) break;
      }
    }
  }
}

}  // namespace quorate

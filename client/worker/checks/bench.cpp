#include "client/worker/checks/bench.h"

#include <algorithm>
#include <functional>

#include <fmt/format.h>

#include "base/arithmetic.h"
#include "base/random.h"
#include "workunits/training/trainer.h"

namespace quorate::worker {
namespace {

constexpr Seconds kTimePerCase{0.4};

// Calls per second of `work`, from the fastest of several rounds, since other
// programs only ever make it slower. One call before the measurement.
double rate(const Clock& clock, const std::function<void()>& work) {
  work();
  Instant begin = clock.now();
  Seconds best{1e9};
  std::uint32_t calls = 1;
  while (clock.now() - begin < kTimePerCase) {
    Instant start = clock.now();
    for (std::uint32_t i = 0; i < calls; ++i) work();
    Seconds taken = clock.now() - start;
    best = std::min(best, taken / calls);
    if (taken < kTimePerCase / 20) calls *= 2;
  }
  return 1 / best.count();
}

Tensor uniform_tensor(Backend& backend, Shape shape, std::uint32_t index) {
  RandomStream words(/*key=*/0, stream_of(RandomUse::initialization, index),
                     /*step=*/0);
  std::vector<float> values(shape.count());
  for (float& value : values) value = uniform11(words.next());
  Tensor tensor = backend.tensor(shape);
  backend.upload(tensor.view(), values);
  return tensor;
}

struct Product {
  std::size_t M, N, K;
};

protocol::BenchCase bench_product(Backend& backend, const Clock& clock,
                                  const Product& shape) {
  auto [M, N, K] = shape;
  Tensor a = uniform_tensor(backend, {M, K}, 0);
  Tensor b = uniform_tensor(backend, {K, N}, 1);
  Tensor c = backend.tensor({M, N});
  float last = 0;
  double products = rate(clock, [&] {
    backend.matmul(a.view(), Transpose::no, b.view(), Transpose::no, c.view());
    backend.download(c.view().part(0, {1}), {&last, 1});  // waits
  });
  double operations = 2.0 * static_cast<double>(M * N * K);
  return {fmt::format("matmul {}x{}x{}", M, N, K), products * operations / 1e9,
          "Gflop/s"};
}

constexpr SampleShape kSample{28, 28, 1};

// A unit that is long enough not to end.
TrainingTask endless_task(const std::string& model, std::uint32_t batch) {
  TrainingTask task;
  task.arithmetic = kArithmeticVersion;
  task.model = parse_model(model, kSample, /*classes=*/10);
  task.range = {.shard_samples = kShardSamples,
                .steps = kShardSamples / batch,
                .batch = batch};
  task.optimizer = {.learning_rate = 0.01F, .momentum = 0.9F};
  task.inverse_batch = inverse_batch(task.model, batch);
  task.digest_every = task.range.steps;  // steps alone are measured
  return task;
}

protocol::BenchCase bench_training(Backend& backend, const Clock& clock,
                                   const std::string& model,
                                   std::uint32_t batch) {
  TrainingTask task = endless_task(model, batch);
  Bytes images(std::size_t{kShardSamples} * kSample.size());
  RandomStream words(/*key=*/0, stream_of(RandomUse::dataset_shuffle),
                     /*step=*/0);
  for (auto& pixel : images) {
    pixel = static_cast<std::uint8_t>(words.next() >> 24);
  }
  Bytes labels(kShardSamples, 1);
  std::vector<float> base = initial_parameters(task.model, /*seed=*/0);
  Trainer trainer(task, base, ShardView{kSample, kShardSamples, images, labels},
                  backend);
  TrainerState start = trainer.state();
  double steps = rate(clock, [&] {
    if (trainer.is_finished()) trainer.restore(start);
    trainer.step();
  });
  return {fmt::format("training step {}, 28 x 28, batch {}", model, batch),
          steps * batch, "samples/s"};
}

}  // namespace

std::vector<protocol::BenchCase> bench_quickly(Backend& backend,
                                               const Clock& clock) {
  return {bench_product(backend, clock, {1024, 1024, 1024})};
}

std::vector<protocol::BenchCase> bench_device(Backend& backend,
                                              const Clock& clock) {
  constexpr Product kProducts[] = {
      {256, 256, 256}, {64, 256, 784}, {784, 256, 64}};
  std::vector<protocol::BenchCase> rows = bench_quickly(backend, clock);
  for (const Product& shape : kProducts) {
    rows.push_back(bench_product(backend, clock, shape));
  }
  for (const char* model : {"mlp:256", "lenet"}) {
    for (std::uint32_t batch : {64U, 256U}) {
      rows.push_back(bench_training(backend, clock, model, batch));
    }
  }
  return rows;
}

}  // namespace quorate::worker

// A network that learns what it is told to, step by step. Usage:
//   bench-learning-curve MODEL BATCH DEVICE THREADS SEED TRAIN TEST WEIGHTS
// TRAIN, TEST: shards as the project server makes them. Writes the initial
// parameters to WEIGHTS, as PyTorch has them, and answers each line:
//   step SHIFT SAMPLE...  the loss of a step on a batch of these samples; of
//                         text, of its windows shifted by SHIFT tokens
//   test                  loss and accuracy on TEST
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <sstream>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "base/error.h"
#include "base/file.h"
#include "bench/training/settings.h"
#include "kernels/devices/backends.h"
#include "kernels/float_environment.h"
#include "workunits/objects/pytorch_export.h"
#include "workunits/objects/shard.h"
#include "workunits/training/evaluator.h"
#include "workunits/training/loss.h"
#include "workunits/training/model.h"
#include "workunits/training/optimizer.h"

namespace quorate {
namespace {

struct Files {
  Bytes train;
  Bytes test;
};

class Pupil {
 public:
  Pupil(const ModelSpec& spec, std::uint32_t batch, std::uint64_t seed,
        const Files& files, Backend& backend)
      : spec_(spec),
        backend_(backend),
        train_(Samples::read(spec, files.train, "training shard")),
        test_(Samples::read(spec, files.test, "test shard")),
        initial_(initial_parameters(spec, seed)),
        model_(spec, batch, backend),
        optimizer_(backend, optimizer_for(spec), trainable_count(spec)),
        losses_(backend.tensor({batch * targets_of(spec)})) {
    backend.upload(model_.parameters(), initial_);
  }

  Bytes weights() const { return write_for_pytorch(spec_, initial_, {}); }

  float step(std::uint32_t shift, const std::vector<std::uint32_t>& samples) {
    train_.load(samples, shift, backend_, model_, targets_);
    model_.begin_step(/*unit_seed=*/0, steps_);
    float loss = softmax_cross_entropy(
        backend_, model_.forward(samples.size()), targets_,
        1.0F / static_cast<float>(targets_.size()), losses_.view(),
        model_.output_gradient(samples.size()));
    model_.backward(samples.size());
    optimizer_.step(model_.trainable(), model_.gradients(),
                    model_.gradient_tensors(), steps_++);
    return loss;
  }

  Score test() {
    std::vector<float> parameters(initial_.size());
    backend_.download(model_.parameters(), parameters);
    return evaluate(spec_, parameters, test_, backend_);
  }

 private:
  ModelSpec spec_;
  Backend& backend_;
  Samples train_;
  Samples test_;
  std::vector<float> initial_;
  Model model_;
  Optimizer optimizer_;
  Tensor losses_;
  std::vector<std::uint32_t> targets_;
  std::uint32_t steps_ = 0;
};

void answer(Pupil& pupil, const std::string& line) {
  std::istringstream words(line);
  std::string order;
  words >> order;
  if (order == "test") {
    Score score = pupil.test();
    std::cout << fmt::format("{:.6f} {:.6f}\n", score.loss,
                             static_cast<double>(score.correct) /
                                 static_cast<double>(score.samples))
              << std::flush;
    return;
  }
  std::uint32_t shift = 0;
  words >> shift;
  std::vector<std::uint32_t> samples;
  for (std::uint32_t sample = 0; words >> sample;) samples.push_back(sample);
  std::cout << fmt::format("{:.6f}\n", pupil.step(shift, samples))
            << std::flush;
}

// What the text names: a family for images of CIFAR-10's shape and classes, or
// "SYMBOLS gpt:...".
ModelSpec spec_of(const std::string& text) {
  std::size_t space = text.find(' ');
  if (space == std::string::npos) return parse_model(text, {32, 32, 3}, 10);
  return parse_text_model(
      text.substr(space + 1),
      static_cast<std::uint32_t>(std::stoul(text.substr(0, space))));
}

void run(char** arguments) {
  auto number = [&](int i) {
    return static_cast<std::uint32_t>(std::stoul(arguments[i]));
  };
  constexpr std::uint64_t kMostBytes = 1 << 30;
  Files files{read_file(arguments[6], kMostBytes),
              read_file(arguments[7], kMostBytes)};
  auto backend = make_backend(arguments[3], number(4));
  Pupil pupil(spec_of(arguments[1]), number(2), number(5), files, *backend);
  write_file_durably(arguments[8], pupil.weights());
  std::cout << "ready\n" << std::flush;
  CanonicalFloatMode mode;
  for (std::string line; std::getline(std::cin, line);) answer(pupil, line);
}

}  // namespace
}  // namespace quorate

int main(int argc, char** argv) {
  if (argc != 9) {
    std::fputs(
        "usage: bench-learning-curve MODEL BATCH DEVICE THREADS SEED TRAIN "
        "TEST WEIGHTS\n",
        stderr);
    return 2;
  }
  try {
    quorate::run(argv);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "bench-learning-curve: %s\n", error.what());
    return 1;
  }
  return 0;
}

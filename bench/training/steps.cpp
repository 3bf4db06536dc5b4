// Whole training steps of a network: forward, loss, backward, optimiser. Usage:
//   bench-training-steps MODEL BATCH DEVICE THREADS CLASSES [HEIGHT WIDTH CH]
// Without the shape of images, MODEL takes text of CLASSES symbols. Answers
// each line "N" with the seconds of N steps, and ends with its input, printing
// the peak of its memory in MB.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "base/error.h"
#include "base/random.h"
#include "bench/training/settings.h"
#include "kernels/devices/backends.h"
#include "workunits/training/loss.h"
#include "workunits/training/model.h"
#include "workunits/training/optimizer.h"

namespace quorate {
namespace {

std::uint32_t number(const char* text) {
  return static_cast<std::uint32_t>(std::strtoul(text, nullptr, 10));
}

class Steps {
 public:
  Steps(const ModelSpec& spec, std::size_t batch, Backend& backend)
      : spec_(spec),
        batch_(batch),
        backend_(backend),
        model_(spec, batch, backend),
        optimizer_(backend, optimizer_for(spec), trainable_count(spec)),
        losses_(backend.tensor({batch * targets_of(spec)})) {
    backend.upload(model_.parameters(), initial_parameters(spec, 1));
    RandomStream words(/*key=*/1, /*stream=*/0, /*step=*/0);
    for (std::size_t i = 0; i < batch * inputs_of(spec); ++i) {
      pixels_.push_back(static_cast<std::uint8_t>(words.next() >> 24));
    }
    for (std::size_t i = 0; i < losses_.shape().count(); ++i) {
      targets_.push_back(integer_below(words.next(), classes_of(spec)));
    }
  }

  void step() {
    if (takes_text(spec_)) {
      model_.set_tokens(targets_);
    } else {
      backend_.upload_pixels(model_.input(batch_), pixels_);
    }
    model_.begin_step(/*unit_seed=*/0, steps_);
    softmax_cross_entropy(backend_, model_.forward(batch_), targets_,
                          1.0F / static_cast<float>(targets_.size()),
                          losses_.view(), model_.output_gradient(batch_));
    model_.backward(batch_);
    optimizer_.step(model_.trainable(), model_.gradients(),
                    model_.gradient_tensors(), steps_++);
    backend_.all_finite(model_.parameters());  // as every step of a unit
  }

 private:
  ModelSpec spec_;
  std::size_t batch_;
  Backend& backend_;
  Model model_;
  Optimizer optimizer_;
  Tensor losses_;
  std::vector<std::uint8_t> pixels_;
  std::vector<std::uint32_t> targets_;
  std::uint32_t steps_ = 0;
};

// Peak resident memory in MB.
double peak_memory() {
  std::ifstream status("/proc/self/status");
  for (std::string word; status >> word;) {
    if (word != "VmHWM:") continue;
    double kilobytes = 0;
    status >> kilobytes;
    return kilobytes / 1024;
  }
  return 0;
}

void serve(Steps& steps) {
  for (int count = 0; std::cin >> count;) {
    auto start = std::chrono::steady_clock::now();
    for (int i = 0; i < count; ++i) steps.step();
    std::chrono::duration<double> taken =
        std::chrono::steady_clock::now() - start;
    std::cout << fmt::format("{:.6f}\n", taken.count()) << std::flush;
  }
  std::cout << fmt::format("{:.1f}\n", peak_memory()) << std::flush;
}

}  // namespace
}  // namespace quorate

int main(int argc, char** argv) {
  using namespace quorate;
  if (argc != 6 && argc != 9) {
    std::fputs(
        "usage: bench-training-steps MODEL BATCH DEVICE THREADS CLASSES "
        "[HEIGHT WIDTH CHANNELS]\n",
        stderr);
    return 2;
  }
  try {
    ModelSpec spec =
        argc == 6
            ? parse_text_model(argv[1], number(argv[5]))
            : parse_model(argv[1],
                          {number(argv[6]), number(argv[7]), number(argv[8])},
                          number(argv[5]));
    auto backend = make_backend(argv[3], number(argv[4]));
    Steps steps(spec, number(argv[2]), *backend);
    serve(steps);
  } catch (const Error& error) {
    std::fprintf(stderr, "bench-training-steps: %s\n", error.what());
    return 1;
  }
  return 0;
}

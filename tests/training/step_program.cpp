// One step of a network, for a comparison with another program: writes the
// parameters, the gradients (of running statistics: them after the step) as
// PyTorch has them, and the batch. Usage:
//   quorate-step OUT-FOLDER BATCH MODEL HEIGHT WIDTH CHANNELS CLASSES
//   quorate-step OUT-FOLDER BATCH MODEL SYMBOLS
// OUT-FOLDER: parameters.safetensors, gradients.safetensors, batch.safetensors
// with "x" or "tokens" (as f32) and "targets". Prints the batch loss.
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "base/error.h"
#include "base/file.h"
#include "base/random.h"
#include "kernels/devices/backends.h"
#include "workunits/objects/pytorch_export.h"
#include "workunits/objects/safetensors.h"
#include "workunits/training/loss.h"
#include "workunits/training/model.h"

namespace quorate {
namespace {

struct Batch {
  std::vector<float> inputs;  // or tokens
  std::vector<std::uint32_t> targets;
};

Batch random_batch(const ModelSpec& spec, std::size_t samples) {
  RandomStream words(/*key=*/1, /*stream=*/0, /*step=*/0);
  Batch batch;
  for (std::size_t i = 0; i < samples * inputs_of(spec); ++i) {
    batch.inputs.push_back(
        takes_text(spec)
            ? static_cast<float>(integer_below(words.next(), classes_of(spec)))
            : uniform01(words.next()));
  }
  for (std::size_t i = 0; i < samples * targets_of(spec); ++i) {
    batch.targets.push_back(integer_below(words.next(), classes_of(spec)));
  }
  return batch;
}

void write_batch(const fs::path& path, const ModelSpec& spec,
                 const Batch& batch) {
  auto samples =
      static_cast<std::uint32_t>(batch.targets.size() / targets_of(spec));
  std::vector<float> values = batch.inputs;
  values.insert(values.end(), batch.targets.begin(), batch.targets.end());
  SampleShape in = layers_of(spec).front().in;
  const TensorSpec tensors[] = {
      {takes_text(spec) ? "tokens" : "x",
       {samples, in.height, in.width, in.channels}},
      {"targets", {static_cast<std::uint32_t>(batch.targets.size())}}};
  write_file_durably(path, write_tensors(tensors, values, {}));
}

void run(const fs::path& out, std::size_t samples, const ModelSpec& spec) {
  auto backend = make_backend("cpu", 2);
  Model model(spec, samples, *backend);
  std::vector<float> parameters = initial_parameters(spec, /*seed=*/7);
  Batch batch = random_batch(spec, samples);
  backend->upload(model.parameters(), parameters);
  if (takes_text(spec)) {
    model.set_tokens({batch.inputs.begin(), batch.inputs.end()});
  } else {
    backend->upload(model.input(samples), batch.inputs);
  }
  model.begin_step(/*unit_seed=*/0, /*step=*/0);
  Tensor losses = backend->tensor({batch.targets.size()});
  float loss =
      softmax_cross_entropy(*backend, model.forward(samples), batch.targets,
                            1.0F / static_cast<float>(batch.targets.size()),
                            losses.view(), model.output_gradient(samples));
  model.backward(samples);
  // Gradients of what is learned, then the running statistics after the step.
  std::vector<float> after(parameters.size());
  backend->download(model.parameters(), after);
  backend->download(model.gradients(),
                    std::span(after).first(trainable_count(spec)));
  write_file_durably(out / "parameters.safetensors",
                     write_for_pytorch(spec, parameters, {}));
  write_file_durably(out / "gradients.safetensors",
                     write_for_pytorch(spec, after, {}));
  write_batch(out / "batch.safetensors", spec, batch);
  std::puts(fmt::format("{:.9g}", loss).c_str());
}

std::uint32_t number(const char* text) {
  return static_cast<std::uint32_t>(std::strtoul(text, nullptr, 10));
}

}  // namespace
}  // namespace quorate

int main(int argc, char** argv) {
  using namespace quorate;
  if (argc != 5 && argc != 8) {
    std::fputs(
        "usage: quorate-step OUT-FOLDER BATCH MODEL SYMBOLS | "
        "HEIGHT WIDTH CHANNELS CLASSES\n",
        stderr);
    return 2;
  }
  try {
    ModelSpec spec =
        argc == 5
            ? parse_text_model(argv[3], number(argv[4]))
            : parse_model(argv[3],
                          {number(argv[4]), number(argv[5]), number(argv[6])},
                          number(argv[7]));
    run(argv[1], number(argv[2]), spec);
  } catch (const Error& error) {
    std::fprintf(stderr, "quorate-step: %s\n", error.what());
    return 1;
  }
  return 0;
}

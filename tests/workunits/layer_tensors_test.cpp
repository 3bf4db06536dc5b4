#include "workunits/models/layer_tensors.h"

#include <doctest/doctest.h>

#include "base/arithmetic.h"
#include "workunits/models/model_spec.h"

namespace quorate {

TEST_CASE("bounds are 1 / sqrt(fan in), for biases too") {
  std::vector<TensorSpec> tensors = parameters_of({"mlp", {784, 256, 10}});
  CHECK(bits(tensors[0].bound) == bits(1.0F / 28.0F));
  CHECK(bits(tensors[1].bound) == bits(1.0F / 28.0F));
  CHECK(bits(tensors[2].bound) == bits(1.0F / 16.0F));
  CHECK(bits(tensors[3].bound) == bits(1.0F / 16.0F));
}

TEST_CASE("running statistics follow what is learned") {
  ModelSpec model = parse_model(
      R"(layers {"layers":[{"layer":"batch_norm"},
           {"layer":"residual","branch":[{"layer":"relu"}],
            "shortcut":[{"layer":"batch_norm"}]},
           {"layer":"linear","outputs":4}]})",
      {1, 1, 3}, 4);
  std::vector<std::string> names;
  for (const TensorSpec& tensor : parameters_of(model)) {
    names.push_back(tensor.name);
  }
  CHECK(names == std::vector<std::string>{
                     "0.weight", "0.bias", "1.shortcut.0.weight",
                     "1.shortcut.0.bias", "2.weight", "2.bias",
                     "0.running_mean", "0.running_var",
                     "1.shortcut.0.running_mean", "1.shortcut.0.running_var"});
  CHECK(trainable_count(model) == 12 + 16);
  CHECK(statistic_count(model) == 12);
  CHECK(parameter_count(model) == 40);
  std::vector<float> values = initial_parameters(model, 5);
  CHECK(std::vector<float>(values.begin() + 28, values.end()) ==
        std::vector<float>{0, 0, 0, 1, 1, 1, 0, 0, 0, 1, 1, 1});
  CHECK(statistic_count(parse_model("resnet-8", {8, 8, 3}, 4)) == 0);
}

TEST_CASE("a batch norm learns from two values of a channel at least") {
  auto fault = [](const SampleShape& sample, std::uint32_t batch) {
    ModelSpec model = parse_model("resnet:1x8,1x8,norm=batch", sample, 4);
    return fault_of_batch(layers_of(model), batch);
  };
  CHECK(fault({4, 4, 3}, 1) == "");
  CHECK(fault({1, 1, 3}, 2) == "");
  CHECK(fault({1, 1, 3}, 1).find("layer 1.branch.0: a batch norm of one") == 0);
  // The second stage halves the image.
  CHECK(fault({2, 2, 3}, 1).find("layer 4.branch.1: a batch norm of one") == 0);
  ModelSpec group = parse_model("resnet:1x8", {1, 1, 3}, 4);
  CHECK(fault_of_batch(layers_of(group), 1) == "");
}

TEST_CASE("operations count both products backward but for the samples") {
  // 2*3 products forward and for the weights, 3*2 in all three passes
  CHECK(training_operations({"mlp", {2, 3, 2}}) == 2 * (2 * 6 + 3 * 6));
  // each output pixel of a convolution is a product with all taps
  double first = 28.0 * 28 * 6 * 25;
  double others = 10.0 * 10 * 16 * 150 + 400 * 120 + 120 * 84 + 84 * 10;
  CHECK(training_operations(parse_model("lenet", {28, 28, 1}, 10)) ==
        2 * (2 * first + 3 * others));
}

}  // namespace quorate

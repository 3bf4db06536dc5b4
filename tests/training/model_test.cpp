#include "workunits/training/model.h"

#include <cmath>

#include <doctest/doctest.h>

#include "base/error.h"
#include "base/random.h"
#include "kernels/backends.h"
#include "workunits/training/loss.h"

namespace quorate {
namespace {

constexpr std::size_t kBatch = 5;

// A model with random parameters and inputs, and its batch loss.
struct LossOfModel {
  LossOfModel(Backend& device, const ModelSpec& spec)
      : backend(device),
        model(spec, kBatch, device),
        losses(device.tensor({kBatch})),
        parameters(initial_parameters(spec, 3)) {
    RandomStream words(17, 0, 0);
    std::vector<float> x(kBatch * inputs_of(spec));
    for (float& value : x) value = uniform11(words.next());
    backend.upload(model.input(kBatch), x);
    for (std::size_t i = 0; i < kBatch; ++i) {
      targets.push_back(static_cast<std::uint32_t>(i % classes_of(spec)));
    }
  }

  double loss_at(const std::vector<float>& at) {
    backend.upload(model.parameters(), at);
    float loss = softmax_cross_entropy(backend, model.forward(kBatch), targets,
                                       1.0F / kBatch, losses.view(),
                                       model.output_gradient(kBatch));
    return loss;
  }

  std::vector<float> gradients() {
    loss_at(parameters);
    model.backward(kBatch);
    std::vector<float> values(parameters.size());
    backend.download(model.gradients(), values);
    return values;
  }

  Backend& backend;
  Model model;
  Tensor losses;
  std::vector<float> parameters;
  std::vector<std::uint32_t> targets;
};

}  // namespace

TEST_CASE("gradients are those of finite differences") {
  auto backend = make_backend("reference");
  struct Case {
    const char* text;
    SampleShape sample;
    double tolerance;
  };
  constexpr Case kCases[] = {{"mlp:none", {2, 2, 1}, 2e-4},
                             {"mlp:6", {2, 2, 1}, 2e-4},
                             {"mlp:7,5", {2, 2, 1}, 2e-4},
                             // Of so many pixels, a few do cross.
                             {"lenet:2,3,6,5", {12, 15, 2}, 5e-4}};
  for (const Case& n : kCases) {
    CAPTURE(n.text);
    LossOfModel loss(*backend, parse_model(n.text, n.sample, 3));
    std::vector<float> gradients = loss.gradients();
    double greatest = 0;
    for (std::size_t i = 0; i < gradients.size(); ++i) {
      CAPTURE(i);
      // Wide enough for binary32 losses, narrow enough to cross no kink of
      // relu with these inputs.
      constexpr float kStep = 0x1p-9F;
      std::vector<float> above = loss.parameters;
      std::vector<float> below = loss.parameters;
      above[i] += kStep;
      below[i] -= kStep;
      double slope = (loss.loss_at(above) - loss.loss_at(below)) /
                     (static_cast<double>(above[i]) - below[i]);
      CHECK(std::abs(slope - gradients[i]) < n.tolerance);
      greatest = std::max(greatest, std::abs(slope));
    }
    CHECK(greatest > 0.05);  // the comparison is not one of zeros
  }
}

TEST_CASE("gradients do not depend on the device") {
  ModelSpec spec;
  SUBCASE("mlp") {
    spec = parse_model("mlp:40,19", {3, 11, 1}, 10);
  }
  SUBCASE("lenet") {
    spec = parse_model("lenet", {14, 13, 3}, 10);
  }
  auto reference = make_backend("reference");
  std::vector<float> expected = LossOfModel(*reference, spec).gradients();
  for (const DeviceInfo& device : list_devices()) {
    CAPTURE(device.name);
    auto backend = make_backend(device.name, 2);
    CHECK(LossOfModel(*backend, spec).gradients() == expected);
  }
}

TEST_CASE("a smaller batch leaves the rest alone") {
  auto backend = make_backend("reference");
  ModelSpec spec = parse_model("mlp:6", {2, 2, 1}, 3);
  LossOfModel whole(*backend, spec);
  whole.loss_at(whole.parameters);
  std::vector<float> all(kBatch * 3);
  backend->download(whole.model.forward(kBatch), all);
  std::vector<float> two(2 * 3);
  backend->download(whole.model.forward(2), two);
  CHECK(std::equal(two.begin(), two.end(), all.begin()));
}

TEST_CASE("a family that we cannot build is unsupported") {
  auto backend = make_backend("reference");
  try {
    Model model({"transformer", {4, 3}}, 1, *backend);
    FAIL("no error");
  } catch (const Error& error) {
    CHECK(error.kind() == ErrorKind::unsupported);
    CHECK(std::string(error.what()).find("transformer") != std::string::npos);
  }
}

}  // namespace quorate

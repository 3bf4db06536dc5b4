#include "workunits/training/model.h"

#include <algorithm>
#include <cmath>

#include <doctest/doctest.h>

#include "base/arithmetic.h"
#include "base/error.h"
#include "base/random.h"
#include "kernels/devices/backends.h"
#include "tests/training/loss_of_model.h"

namespace quorate {
namespace {

using test::check_slopes;
using test::kBatch;
using test::LossOfModel;

constexpr const char* kEveryLayer = R"(layers {"layers":[
  {"layer":"conv2d","channels":6,"window":3,"padding":1,"stride":2},
  {"layer":"group_norm","groups":2},
  {"layer":"relu"},
  {"layer":"residual","branch":[
    {"layer":"conv2d","channels":6,"window":3,"padding":1,"groups":6},
    {"layer":"silu"},
    {"layer":"conv2d","channels":8,"window":1,"bias":false},
    {"layer":"relu"}],
   "shortcut":[{"layer":"linear","outputs":8,"bias":false}]},
  {"layer":"residual","branch":[
    {"layer":"layer_norm"},
    {"layer":"tanh"},
    {"layer":"conv2d","channels":8,"window":3,"padding":1,"groups":2}]},
  {"layer":"relu"},
  {"layer":"average_pool2d","window":3,"stride":2,"padding":1},
  {"layer":"dropout","rate":0.25},
  {"layer":"sigmoid"},
  {"layer":"flatten"},
  {"layer":"linear","outputs":9},
  {"layer":"gelu"},
  {"layer":"linear","outputs":3}]})";

// Without kinks.
constexpr const char* kBatchNorm = R"(layers {"layers":[
  {"layer":"conv2d","channels":6,"window":3,"padding":1,"bias":false},
  {"layer":"batch_norm"},
  {"layer":"tanh"},
  {"layer":"residual","branch":[
    {"layer":"batch_norm"},
    {"layer":"silu"},
    {"layer":"conv2d","channels":6,"window":3,"padding":1,"bias":false}]},
  {"layer":"mean_pixels"},
  {"layer":"batch_norm"},
  {"layer":"linear","outputs":3}]})";

}  // namespace

TEST_CASE("gradients are those of finite differences") {
  auto backend = make_backend("cpu");
  struct Case {
    const char* text;
    SampleShape sample;
    std::size_t every;
    float step;
    double tolerance;
  };
  constexpr Case kCases[] = {{"mlp:none", {2, 2, 1}, 1, 0x1p-9F, 3e-3},
                             {"mlp:6", {2, 2, 1}, 1, 0x1p-9F, 3e-3},
                             {"mlp:7,5", {2, 2, 1}, 1, 0x1p-9F, 3e-3},
                             {"lenet:2,3,6,5", {12, 15, 2}, 1, 0x1p-9F, 0.03},
                             {"resnet:1x8,2x12", {7, 6, 2}, 7, 0x1p-11F, 0.04},
                             {kBatchNorm, {6, 5, 2}, 1, 0x1p-9F, 5e-3},
                             {kEveryLayer, {9, 8, 3}, 1, 0x1p-11F, 0.04}};
  for (const Case& n : kCases) {
    CAPTURE(n.text);
    LossOfModel loss(*backend, parse_model(n.text, n.sample, 3));
    check_slopes(loss, n.every, n.step, n.tolerance);
  }
}

TEST_CASE("gradients of networks of text are those of finite differences") {
  auto backend = make_backend("cpu");
  for (const char* text :
       {"gpt:layers=1,width=8,heads=2,context=5,head=tied",
        "gpt:layers=2,width=12,heads=3,context=7,head=untied"}) {
    CAPTURE(text);
    LossOfModel loss(*backend, parse_text_model(text, 6));
    check_slopes(loss, 3, 0x1p-9F, 5e-3);
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
  SUBCASE("resnet") {
    spec = parse_model("resnet-8", {9, 10, 3}, 10);
  }
  SUBCASE("batch norm") {
    spec = parse_model("resnet-8:norm=batch", {9, 10, 3}, 10);
  }
  SUBCASE("every layer") {
    spec = parse_model(kEveryLayer, {9, 8, 3}, 3);
  }
  SUBCASE("gpt") {
    spec = parse_text_model("gpt:layers=2,width=24,heads=3,context=70", 20);
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

TEST_CASE("evaluation needs less memory and gives the same") {
  auto backend = make_backend("cpu");
  ModelSpec spec = parse_model("resnet-8", {16, 16, 3}, 10);
  LossOfModel training(*backend, spec);
  training.loss_at(training.parameters);
  Model model(spec, kBatch, *backend, Purpose::evaluation);
  backend->upload(model.parameters(), training.parameters);
  std::vector<float> x(kBatch * inputs_of(spec));
  RandomStream words(17, 0, 0);
  for (float& value : x) value = uniform11(words.next());
  backend->upload(model.input(kBatch), x);
  std::vector<float> found(kBatch * 10);
  backend->download(model.forward(kBatch), found);
  backend->upload(training.model.input(kBatch), x);
  std::vector<float> expected(kBatch * 10);
  backend->download(training.model.forward(kBatch), expected);
  CHECK(found == expected);
  CHECK(model.arena_size() * 3 < training.model.arena_size());
}

TEST_CASE("dropout drops in training alone, other elements in every step") {
  auto backend = make_backend("reference");
  ModelSpec spec =
      parse_model(R"(layers {"layers":[{"layer":"dropout","rate":0.5}]})",
                  {1, 1, 1000}, 1000);
  Model model(spec, 1, *backend);
  auto pass = [&] {
    backend->upload(model.input(1), std::vector<float>(1000, 1.0F));
    std::vector<float> y(1000);
    backend->download(model.forward(1), y);
    return y;
  };
  CHECK(pass() == std::vector<float>(1000, 1.0F));
  model.begin_step(1, 0);
  std::vector<float> first = pass();
  auto kept = std::count(first.begin(), first.end(), 2.0F);
  CHECK(std::count(first.begin(), first.end(), 0.0F) == 1000 - kept);
  CHECK(kept > 430);
  CHECK(kept < 570);
  CHECK(pass() == first);
  model.begin_step(1, 1);
  CHECK(pass() != first);
}

TEST_CASE("batch norm: of the batch in training, else of what has run") {
  auto backend = make_backend("reference");
  ModelSpec spec = parse_model(R"(layers {"layers":[{"layer":"batch_norm"}]})",
                               {1, 1, 2}, 2);
  Model model(spec, 4, *backend);
  // weight, bias, running mean, running variance of two channels
  const std::vector<float> initial = {1, 1, 0, 0, 0, 0.5F, 1, 2};
  const std::vector<float> x = {0, 4, 1, 4, 2, 4, 5, 4};
  backend->upload(model.parameters(), initial);
  auto pass = [&] {
    backend->upload(model.input(4), x);
    std::vector<float> y(8);
    backend->download(model.forward(4), y);
    return y;
  };
  auto normal = [](float value, float mean, float variance) {
    float rs = 1.0F / std::sqrt(variance + float_of_bits(kNormEpsilon));
    return fma((value - mean) * rs, 1.0F, 0.0F);
  };
  auto parameters = [&] {
    std::vector<float> values(8);
    backend->download(model.parameters(), values);
    return values;
  };
  // Nothing is learned yet: an evaluation.
  std::vector<float> y = pass();
  CHECK(y[6] == normal(5, 0, 1));
  CHECK(y[7] == normal(4, 0.5F, 2));
  CHECK(parameters() == initial);
  // Means 2 and 4; variances 14 / 4 and 0, over n - 1 values 14 / 3 and 0.
  model.begin_step(1, 0);
  y = pass();
  CHECK(y[6] == normal(5, 2, 3.5F));
  CHECK(y[7] == 0.0F);
  float factor = 4.0F / 3.0F;
  CHECK(parameters() ==
        std::vector<float>{
            1, 1, 0, 0, fma(0.1F, 2.0F, 0.0F), fma(0.1F, 3.5F, 0.5F),
            fma(0.1F, 3.5F * factor - 1.0F, 1.0F), fma(0.1F, -2.0F, 2.0F)});
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

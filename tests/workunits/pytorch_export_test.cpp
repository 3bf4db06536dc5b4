#include "workunits/objects/pytorch_export.h"

#include <cstring>
#include <numeric>

#include <doctest/doctest.h>

#include "base/error.h"
#include "workunits/objects/safetensors.h"

namespace quorate {
namespace {

// 0, 1, 2, ...: every element says where it was.
std::vector<float> numbered(const ModelSpec& model) {
  std::vector<float> values(parameter_count(model));
  std::iota(values.begin(), values.end(), 0.0F);
  return values;
}

std::vector<float> floats_of(const TensorView& tensor) {
  std::vector<float> values(tensor.data.size() / sizeof(float));
  std::memcpy(values.data(), tensor.data.data(), tensor.data.size());
  return values;
}

}  // namespace

TEST_CASE("an mlp is exported as it is") {
  ModelSpec model = parse_model("mlp:7,5", {2, 3, 1}, 4);
  std::vector<float> values = numbered(model);
  CHECK(write_for_pytorch(model, values, {{"a", "b"}}) ==
        write_parameters(model, values, {{"a", "b"}}));
}

TEST_CASE("convolutions and what follows a flatten get PyTorch's layout") {
  constexpr std::size_t kC = 3;  // channels of the samples
  constexpr std::size_t kC1 = 2;
  constexpr std::size_t kC2 = 4;
  // A linear layer of as many inputs as the flattened one stays as it is.
  ModelSpec model = parse_model("lenet:2,4,24,24", {16, 20, kC}, 5);
  Bytes bytes = write_for_pytorch(model, numbered(model), {});
  Safetensors file(bytes, "export");
  REQUIRE(file.tensors().size() == 10);

  std::vector<float> weight =
      floats_of(file.get("0.weight", DType::f32, {kC1, kC, 5, 5}));
  std::vector<float> second =
      floats_of(file.get("3.weight", DType::f32, {kC2, kC1, 5, 5}));
  std::size_t before = 5 * 5 * kC * kC1 + kC1;
  for (std::size_t kh = 0; kh < 5; ++kh) {
    for (std::size_t kw = 0; kw < 5; ++kw) {
      for (std::size_t ci = 0; ci < kC; ++ci) {
        for (std::size_t co = 0; co < kC1; ++co) {
          REQUIRE(weight[((co * kC + ci) * 5 + kh) * 5 + kw] ==
                  static_cast<float>(((kh * 5 + kw) * kC + ci) * kC1 + co));
        }
      }
      for (std::size_t ci = 0; ci < kC1; ++ci) {
        for (std::size_t co = 0; co < kC2; ++co) {
          REQUIRE(second[((co * kC1 + ci) * 5 + kh) * 5 + kw] ==
                  static_cast<float>(before + ((kh * 5 + kw) * kC1 + ci) * kC2 +
                                     co));
        }
      }
    }
  }
  before += 5 * 5 * kC1 * kC2;
  CHECK(floats_of(file.get("3.bias", DType::f32, {kC2}))[1] ==
        static_cast<float>(before + 1));

  // 2 x 3 pixels of 4 channels come out of the last pooling.
  before += kC2;
  std::vector<float> linear =
      floats_of(file.get("7.weight", DType::f32, {24, 24}));
  for (std::size_t out = 0; out < 24; ++out) {
    for (std::size_t h = 0; h < 2; ++h) {
      for (std::size_t w = 0; w < 3; ++w) {
        for (std::size_t c = 0; c < kC2; ++c) {
          REQUIRE(
              linear[out * 24 + (c * 2 + h) * 3 + w] ==
              static_cast<float>(before + out * 24 + (h * 3 + w) * kC2 + c));
        }
      }
    }
  }
  before += 24 * 24 + 24;
  std::vector<float> next =
      floats_of(file.get("9.weight", DType::f32, {24, 24}));
  CHECK(next.front() == static_cast<float>(before));
  CHECK(next[5] == static_cast<float>(before + 5));
}

TEST_CASE("running statistics are exported as they are") {
  ModelSpec model = parse_model("resnet:1x8,norm=batch", {4, 4, 1}, 2);
  Bytes bytes = write_for_pytorch(model, numbered(model), {});
  Safetensors file(bytes, "export");
  CHECK(file.tensors().size() == parameters_of(model).size());
  auto first = static_cast<float>(trainable_count(model));
  CHECK(floats_of(file.get("1.branch.0.running_mean", DType::f32, {8}))[3] ==
        first + 3);
  CHECK(floats_of(file.get("1.branch.0.running_var", DType::f32, {8}))[3] ==
        first + 11);
}

TEST_CASE("an exported model is read back as it was") {
  for (const char* text : {"mlp:7,5", "lenet:2,4,24,24", "resnet-8"}) {
    CAPTURE(text);
    const ModelSpec model = parse_model(text, {16, 20, 3}, 5);
    const std::vector<float> values = numbered(model);
    const Bytes bytes = write_for_pytorch(model, values, {{"a", "b"}});
    CHECK(read_from_pytorch(model, bytes, "file") == values);
    const ModelSpec other = parse_model("mlp:8,5", {16, 20, 3}, 5);
    CHECK_THROWS_AS(read_from_pytorch(other, bytes, "file"), Error);
  }
}

}  // namespace quorate

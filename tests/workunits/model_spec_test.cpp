#include "workunits/model_spec.h"

#include <doctest/doctest.h>

#include "base/arithmetic.h"
#include "base/error.h"
#include "base/random.h"

namespace quorate {
namespace {

ErrorKind kind_of_reading(const std::string& json) {
  try {
    model_from_json(json);
  } catch (const Error& error) {
    return error.kind();
  }
  FAIL("read " << json);
  return ErrorKind::io;
}

}  // namespace

TEST_CASE("models are read from and written as text") {
  CHECK(parse_model("mlp", 784, 10).widths ==
        std::vector<std::uint32_t>{784, 256, 10});
  CHECK(parse_model("mlp:512,128", 784, 10).widths ==
        std::vector<std::uint32_t>{784, 512, 128, 10});
  CHECK(parse_model("mlp:none", 4, 2).widths ==
        std::vector<std::uint32_t>{4, 2});
  for (const char* text : {"mlp:256", "mlp:512,128", "mlp:none"}) {
    CHECK(name_of(parse_model(text, 64, 10)) == text);
  }
}

TEST_CASE("a model that is not known is wrong usage and lists what is") {
  for (const char* text :
       {"", "lenet", "mlp:", "mlp:a", "mlp:1,", "mlp:,1", "mlp:-1", "mlp:0",
        "mlp:1 ,2", "mlp:99999999999", "mlp:2000000", "MLP"}) {
    CAPTURE(text);
    try {
      parse_model(text, 784, 10);
      FAIL("accepted");
    } catch (const Error& error) {
      CHECK(error.kind() == ErrorKind::usage);
    }
  }
  CHECK_THROWS_AS(parse_model("mlp", 0, 10), Error);
  CHECK_THROWS_AS(parse_model("mlp", 784, 0), Error);
  // more parameters than a snapshot can hold
  CHECK_THROWS_AS(parse_model("mlp:1000000,1000000", 784, 10), Error);
}

TEST_CASE("tensors have PyTorch's names, shapes and order") {
  std::vector<TensorSpec> tensors = parameters_of({"mlp", {784, 256, 10}});
  REQUIRE(tensors.size() == 4);
  CHECK(tensors[0].name == "0.weight");
  CHECK(tensors[0].shape == std::vector<std::uint32_t>{256, 784});
  CHECK(tensors[1].name == "0.bias");
  CHECK(tensors[1].shape == std::vector<std::uint32_t>{256});
  CHECK(tensors[2].name == "2.weight");
  CHECK(tensors[2].shape == std::vector<std::uint32_t>{10, 256});
  CHECK(tensors[3].name == "2.bias");
  CHECK(tensors[3].shape == std::vector<std::uint32_t>{10});
  CHECK(tensors[0].size() == 256 * 784);
  CHECK(parameter_count({"mlp", {784, 256, 10}}) == 203530);
  CHECK(inputs_of({"mlp", {784, 256, 10}}) == 784);
  CHECK(classes_of({"mlp", {784, 256, 10}}) == 10);
}

TEST_CASE("operations count both products backward but for the samples") {
  // 2*3 products forward and for the weights, 3*2 in all three passes
  CHECK(training_operations({"mlp", {2, 3, 2}}) == 2 * (2 * 6 + 3 * 6));
}

TEST_CASE("bounds are 1 / sqrt(fan in), for biases too") {
  std::vector<TensorSpec> tensors = parameters_of({"mlp", {784, 256, 10}});
  CHECK(bits(tensors[0].bound) == bits(1.0F / 28.0F));
  CHECK(bits(tensors[1].bound) == bits(1.0F / 28.0F));
  CHECK(bits(tensors[2].bound) == bits(1.0F / 16.0F));
  CHECK(bits(tensors[3].bound) == bits(1.0F / 16.0F));
}

TEST_CASE("initial values follow from seed, tensor and index alone") {
  ModelSpec model{"mlp", {3, 5, 2}};
  std::vector<float> values = initial_parameters(model, 99);
  REQUIRE(values.size() == parameter_count(model));
  // element 7 of tensor 0 and element 1 of tensor 3
  float bound = parameters_of(model)[0].bound;
  CHECK(values[7] == bound * uniform11(random_word(99, 0, 0, 7)));
  bound = parameters_of(model)[3].bound;
  CHECK(values.back() == bound * uniform11(random_word(99, 3, 0, 1)));
  CHECK(values == initial_parameters(model, 99));
  CHECK(values != initial_parameters(model, 100));
}

TEST_CASE("JSON keeps a model") {
  ModelSpec model{"mlp", {784, 512, 128, 10}};
  CHECK(to_json(model) == R"({"family":"mlp","widths":[784,512,128,10]})");
  CHECK(model_from_json(to_json(model)) == model);
}

TEST_CASE("JSON that is no model we can train is corrupt") {
  std::string many = "[1";
  for (int i = 0; i < 64; ++i) many += ",1";
  for (const std::string& widths :
       {std::string("[]"), std::string("[1]"), std::string("[0,1]"),
        std::string("[1,1048577]"), std::string("[1,-1]"),
        std::string("[1,2.0]"), std::string("\"1,2\""),
        std::string("[1048576,1048576]"), many + "]"}) {
    CAPTURE(widths);
    CHECK(kind_of_reading(R"({"family":"mlp","widths":)" + widths + "}") ==
          ErrorKind::corrupt);
  }
  CHECK(kind_of_reading(R"({"family":"x","widths":[1,2]})") ==
        ErrorKind::corrupt);
  CHECK(kind_of_reading(R"({"widths":[1,2]})") == ErrorKind::corrupt);
  CHECK(kind_of_reading("[]") == ErrorKind::corrupt);
}

}  // namespace quorate

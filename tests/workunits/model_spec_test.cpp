#include "workunits/models/model_spec.h"

#include <cmath>
#include <utility>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "base/error.h"
#include "base/random.h"

namespace quorate {
namespace {

constexpr SampleShape kImages{28, 28, 1};

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
  CHECK(parse_model("mlp", kImages, 10).widths ==
        std::vector<std::uint32_t>{784, 256, 10});
  CHECK(parse_model("mlp:512,128", kImages, 10).widths ==
        std::vector<std::uint32_t>{784, 512, 128, 10});
  CHECK(parse_model("mlp:none", {2, 2, 1}, 2).widths ==
        std::vector<std::uint32_t>{4, 2});
  for (const char* text :
       {"mlp:256", "mlp:512,128", "mlp:none", "lenet", "lenet:12,32,120,84"}) {
    CHECK(name_of(parse_model(text, kImages, 10)) == text);
  }
}

TEST_CASE("resnets are read by depth or by stages") {
  constexpr SampleShape kColour{32, 32, 3};
  ModelSpec model = parse_model("resnet-20", kColour, 10);
  CHECK(model.widths == std::vector<std::uint32_t>{16, 32, 64, 10});
  CHECK(model.blocks == std::vector<std::uint32_t>{3, 3, 3});
  CHECK(parse_model("resnet", kColour, 10) == model);
  CHECK(parse_model("resnet:3x16,3x32,3x64", kColour, 10) == model);
  CHECK(parameter_count(parse_model("resnet-110", kColour, 10)) == 1730522);
  for (const char* text : {"resnet-8", "resnet-18", "resnet-110", "resnet:1x8",
                           "resnet:2x64,2x100"}) {
    CAPTURE(text);
    model = parse_model(text, kColour, 10);
    CHECK(name_of(model) == text);
    CHECK(model_from_json(to_json(model)) == model);
  }
  for (const char* text : {"resnet-9", "resnet-", "resnet-1204",
                           "resnet:", "resnet:3", "resnet:0x16", "resnet:3x0",
                           "resnet:300x16", "resnet:1x8,", "resnet20"}) {
    CAPTURE(text);
    CHECK_THROWS_AS(parse_model(text, kColour, 10), Error);
  }
}

TEST_CASE("a resnet has batch norm on request") {
  constexpr SampleShape kColour{32, 32, 3};
  ModelSpec group = parse_model("resnet-8", kColour, 10);
  ModelSpec batch = parse_model("resnet-8:norm=batch", kColour, 10);
  CHECK(batch.norm == Norm::batch);
  CHECK(batch.blocks == group.blocks);
  CHECK(to_json(group).find("norm") == std::string::npos);
  CHECK(to_json(batch) ==
        R"({"blocks":[1,1,1],"family":"resnet","input":[32,32,3],)"
        R"("norm":"batch","widths":[16,32,64,10]})");
  CHECK(parse_model("resnet-8:norm=group", kColour, 10) == group);
  CHECK(name_of(parse_model("resnet:norm=batch", kColour, 10)) ==
        "resnet-20:norm=batch");
  CHECK(name_of(parse_model("resnet:norm=batch,2x8", kColour, 10)) ==
        "resnet:2x8,norm=batch");
  for (const char* text : {"resnet-18:norm=batch", "resnet:1x8,norm=batch"}) {
    CAPTURE(text);
    ModelSpec model = parse_model(text, kColour, 10);
    CHECK(name_of(model) == text);
    CHECK(model_from_json(to_json(model)) == model);
  }
  for (const char* text :
       {"resnet-8:norm", "resnet-8:norm=", "resnet-8:norm=layer",
        "resnet-8:1x8", "resnet-8,norm=batch", "resnet-8:norm=batch,",
        "resnet 8", "resnet:norm=batch:1x8"}) {
    CAPTURE(text);
    CHECK_THROWS_AS(parse_model(text, kColour, 10), Error);
  }
  for (const char* norm : {"\"group\"", "\"layer\"", "\"\"", "1", "null"}) {
    CAPTURE(norm);
    std::string json = to_json(group);
    json.insert(json.find("\"widths\""), fmt::format("\"norm\":{},", norm));
    CHECK(kind_of_reading(json) == ErrorKind::corrupt);
  }
}

TEST_CASE("a gpt is for text, the others are not") {
  ModelSpec model = parse_text_model(
      "gpt:layers=6,width=384,heads=6,context=256,head=untied", 65);
  CHECK(parameter_count(model) == 65 * 384 + 256 * 384 +
                                      6 * (12 * 384 * 384 + 13 * 384) +
                                      2 * 384 + 65 * 384);
  CHECK(targets_of(model) == 256);
  CHECK(takes_text(model));
  CHECK(parse_text_model(name_of(model), 65) == model);
  CHECK(model_from_json(to_json(model)) == model);
  model = parse_text_model("gpt:context=32", 65);
  CHECK(model.is_tied);
  CHECK(model_from_json(to_json(model)) == model);
  CHECK_THROWS_WITH_AS(parse_model("gpt", kImages, 10),
                       doctest::Contains("it takes text"), Error);
  CHECK_THROWS_WITH_AS(parse_text_model("lenet", 65),
                       doctest::Contains("it takes images"), Error);
  for (const char* text :
       {"gpt:width=10,heads=3", "gpt:layers=0", "gpt:layers=", "gpt:x=1",
        "gpt:head=loose", "gpt:context=0", "gpt:heads=0", "gpt:layers=1,"}) {
    CAPTURE(text);
    CHECK_THROWS_AS(parse_text_model(text, 65), Error);
  }
}

TEST_CASE("a list of layers is a model, with errors that name the place") {
  auto read = [](const std::string& layers) {
    return parse_model("layers {\"layers\":[" + layers + "]}", {8, 8, 3}, 4);
  };
  ModelSpec model = read(
      R"({"layer":"conv2d","channels":6,"window":3,"padding":1},
         {"layer":"residual","branch":[{"layer":"relu"}]},
         {"layer":"mean_pixels"},{"layer":"linear","outputs":4})");
  CHECK(parameter_count(model) == 6 * 27 + 6 + 24 + 4);
  CHECK(model_from_json(to_json(model)) == model);
  CHECK(parse_model(name_of(model), {8, 8, 3}, 4) == model);
  CHECK(title_of(model) == "layers");
  const std::pair<const char*, const char*> kFaults[] = {
      {R"({"layer":"linear","outputs":5})", "the last layer gives 8 x 8 x 5"},
      {R"({"layer":"cnov2d"})", "layer 0: no kind of layer is called"},
      {R"({"layer":"linear","outputs":4,"bias":1})", "expected true or false"},
      {R"({"layer":"linear"})", "layer 0: linear needs \"outputs\""},
      {R"({"layer":"relu","outputs":4})", "a field that it does not have"},
      {R"({"layer":"group_norm","groups":2})", "do not make 2 equal groups"},
      {R"({"layer":"batch_norm","groups":3})", "that it does not have"},
      {R"({"layer":"conv2d","channels":4,"window":9})", "does not fit"},
      {R"({"layer":"conv2d","channels":4,"window":3,"stride":0})", "stride"},
      {R"({"layer":"max_pool2d","window":2,"padding":2})", "padding"},
      {R"({"layer":"dropout","rate":1})", "rate"},
      {R"({"layer":"attention","heads":1})", "expected a sequence"},
      {R"({"layer":"tied_linear","symbols":4})", "a tied layer"},
      {R"({"layer":"residual","branch":[{"layer":"linear","outputs":2},
           {"layer":"dropout","rate":2}]})",
       "layer 0.branch.1"},
      {R"({"layer":"residual","branch":[{"layer":"linear","outputs":4}]})",
       "the branch gives 8 x 8 x 4, the shortcut 8 x 8 x 3"},
      {R"({"layer":"residual","branch":[]})", "without a branch"},
      {R"({"layer":"linear","outputs":1000000},{"layer":"flatten"},
          {"layer":"linear","outputs":4})",
       "allowed are"},
      {"", "without layers"}};
  for (const auto& fault : kFaults) {
    CAPTURE(fault.first);
    CHECK_THROWS_WITH_AS(read(fault.first), doctest::Contains(fault.second),
                         Error);
  }
}

TEST_CASE("an embedding has a row for each symbol of the text") {
  const auto read = [](int rows, std::uint32_t symbols) {
    return parse_text_model(fmt::format(R"(layers {{"context":8,"layers":[
              {{"layer":"embedding","symbols":{},"channels":4}},
              {{"layer":"linear","outputs":{}}}]}})",
                                        rows, symbols),
                            symbols);
  };
  CHECK(takes_text(read(11, 11)));
  CHECK(takes_text(read(12, 11)));
  CHECK_THROWS_WITH_AS(
      read(10, 11),
      doctest::Contains("the embedding has 10 symbols, and the text 11: give "
                        "it \"symbols\": 11, or more"),
      Error);
}

TEST_CASE("a model that is not known is wrong usage and lists what is") {
  for (const char* text :
       {"", "alexnet", "mlp:", "mlp:a", "mlp:1,", "mlp:,1", "mlp:-1", "mlp:0",
        "mlp:1 ,2", "mlp:99999999999", "mlp:2000000", "MLP"}) {
    CAPTURE(text);
    try {
      parse_model(text, kImages, 10);
      FAIL("accepted");
    } catch (const Error& error) {
      CHECK(error.kind() == ErrorKind::usage);
    }
  }
  CHECK_THROWS_AS(parse_model("mlp", {28, 0, 1}, 10), Error);
  CHECK_THROWS_AS(parse_model("mlp", kImages, 0), Error);
  CHECK_THROWS_WITH_AS(parse_model("lenet:6,16,120", kImages, 10),
                       doctest::Contains("lenet has 5 widths, the classes "
                                         "counted, found 4"),
                       Error);
  CHECK_THROWS_AS(parse_model("lenet:none", kImages, 10), Error);
  // more parameters than a snapshot can hold
  CHECK_THROWS_AS(parse_model("mlp:1000000,1000000", kImages, 10), Error);
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

TEST_CASE("lenet is what PyTorch calls so, in our layouts") {
  ModelSpec model = parse_model("lenet", {28, 28, 1}, 10);
  CHECK(model == ModelSpec{"lenet", {6, 16, 120, 84, 10}, {28, 28, 1}});
  using Row = std::pair<std::string, std::vector<std::uint32_t>>;
  std::vector<Row> found;
  for (const TensorSpec& tensor : parameters_of(model)) {
    found.emplace_back(tensor.name, tensor.shape);
  }
  CHECK(found == std::vector<Row>{{"0.weight", {5, 5, 1, 6}},
                                  {"0.bias", {6}},
                                  {"3.weight", {5, 5, 6, 16}},
                                  {"3.bias", {16}},
                                  {"7.weight", {120, 400}},
                                  {"7.bias", {120}},
                                  {"9.weight", {84, 120}},
                                  {"9.bias", {84}},
                                  {"11.weight", {10, 84}},
                                  {"11.bias", {10}}});
  CHECK(parameter_count(model) == 61706);
  CHECK(inputs_of(model) == 784);
  CHECK(classes_of(model) == 10);
  CHECK(parameters_of(model)[0].bound == 1.0F / 5.0F);
  CHECK(parameters_of(model)[3].bound == 1.0F / std::sqrt(150.0F));
}

TEST_CASE("lenet fits images of any shape that is large enough") {
  auto flat = [](const SampleShape& image) {
    return parameters_of(parse_model("lenet", image, 10))[4].shape[1];
  };
  CHECK(flat({12, 12, 3}) == 16);
  CHECK(flat({32, 32, 3}) == 16 * 6 * 6);
  CHECK(flat({15, 12, 1}) == 16);
  CHECK(flat({16, 29, 1}) == 16 * 2 * 5);
  try {
    parse_model("lenet", {8, 28, 1}, 10);
    FAIL("accepted");
  } catch (const Error& error) {
    CHECK(error.kind() == ErrorKind::usage);
    CHECK(
        std::string(error.what())
            .find("images of 8 x 28 x 1 are too small: lenet needs 12 x 12") !=
        std::string::npos);
  }
  CHECK_THROWS_AS(parse_model("lenet", {28, 11, 1}, 10), Error);
}

TEST_CASE("a model says which samples it cannot take") {
  ModelSpec mlp = parse_model("mlp", {28, 28, 1}, 10);
  CHECK(misfit_of(mlp, {28, 28, 1}) == "");
  CHECK(misfit_of(mlp, {1, 784, 1}) == "");
  CHECK(misfit_of(mlp, {8, 8, 1}) ==
        "expected samples of 784 values, found 64");
  ModelSpec lenet = parse_model("lenet", {28, 14, 2}, 10);
  CHECK(misfit_of(lenet, {28, 14, 2}) == "");
  CHECK(misfit_of(lenet, {28, 28, 1}) ==
        "expected samples of 28 x 14 x 2, found 28 x 28 x 1");
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
  model = parse_model("lenet", {28, 30, 3}, 10);
  CHECK(to_json(model) == R"({"family":"lenet","input":[28,30,3],)"
                          R"("widths":[6,16,120,84,10]})");
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

TEST_CASE("JSON of images that we cannot train on is corrupt") {
  auto lenet = [](const std::string& input, const std::string& widths) {
    return R"({"family":"lenet","input":)" + input + R"(,"widths":)" + widths +
           "}";
  };
  const std::string usual = "[6,16,120,84,10]";
  CHECK_NOTHROW(model_from_json(lenet("[28,28,1]", usual)));
  for (const char* input :
       {"[]", "[28,28]", "[28,28,1,1]", "[28,28,0]", "[11,28,1]", "[28,11,1]",
        "[28,28,-1]", "[28,28,1.0]", "\"28\"", "[4294967295,4294967295,1]",
        "[16777216,16777216,16777216]", "[65536,65536,1]", "[2048,2048,8]"}) {
    CAPTURE(input);
    CHECK(kind_of_reading(lenet(input, usual)) == ErrorKind::corrupt);
  }
  for (const char* widths :
       {"[]", "[10]", "[6,16,120,10]", "[6,16,120,84,10,10]", "[0,16,1,1,1]",
        "[1048576,16,120,84,10]", "[6,1048576,120,84,10]",
        "[6,16,1048576,1048576,10]", "[6,16,120,84,1048577]"}) {
    CAPTURE(widths);
    CHECK(kind_of_reading(lenet("[28,28,1]", widths)) == ErrorKind::corrupt);
  }
  CHECK(kind_of_reading(R"({"family":"lenet","widths":[6,16,120,84,10]})") ==
        ErrorKind::corrupt);
}

}  // namespace quorate

#include "workunits/objects/safetensors.h"

#include <cstring>
#include <limits>
#include <numeric>

#include <doctest/doctest.h>

#include "base/arithmetic.h"
#include "base/error.h"
#include "tests/support/data.h"
#include "tests/support/samples.h"
#include "tests/support/temporary_folder.h"

namespace quorate {
namespace {

Bytes container(std::string_view header, std::string_view data = {}) {
  ByteWriter out;
  out.put(static_cast<std::uint64_t>(header.size()));
  out.put_bytes(as_bytes(header));
  out.put_bytes(as_bytes(data));
  return out.take();
}

bool is_refused(std::string_view header, std::string_view data = {}) {
  Bytes bytes = container(header, data);
  try {
    Safetensors file(bytes, "test");
    return false;
  } catch (const Error& error) {
    return error.kind() == ErrorKind::corrupt;
  }
}

std::vector<float> numbers(std::size_t n) {
  std::vector<float> values(n);
  std::iota(values.begin(), values.end(), 1.0F);
  return values;
}

}  // namespace

TEST_CASE("tensors come back in declared order, data aligned to 64 bytes") {
  const Bytes data{1, 2, 3, 4, 5, 6, 7, 8};
  ByteView view(data);
  std::vector<TensorView> tensors{
      {"z", DType::u8, {3}, view.first(3)},
      {"a", DType::f32, {1, 1}, view.last(4)},
      {"none", DType::i32, {0, 5}, {}},
      {"scalar \"\n", DType::u8, {}, view.first(1)},
  };
  Bytes bytes = write_safetensors(tensors, {{"k", "v"}});
  Safetensors file(bytes, "test");
  REQUIRE(file.tensors().size() == 4);
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    CAPTURE(i);
    CHECK(file.tensors()[i].name == tensors[i].name);
    CHECK(file.tensors()[i].dtype == tensors[i].dtype);
    CHECK(file.tensors()[i].shape == tensors[i].shape);
    CHECK(to_hex(file.tensors()[i].data) == to_hex(tensors[i].data));
  }
  CHECK(file.metadata() == std::map<std::string, std::string>{{"k", "v"}});
  CHECK((bytes.size() - 8) % 64 == 0);  // 8 bytes of data
}

TEST_CASE("a tensor is got by name, type and shape") {
  Bytes bytes = container(
      R"({"a":{"dtype":"U8","shape":[2,1],"data_offsets":[0,2]}})", "xy");
  Safetensors file(bytes, "update 9");
  CHECK(as_text(file.get("a", DType::u8).data) == "xy");
  CHECK(as_text(file.get("a", DType::u8, {2, 1}).data) == "xy");
  CHECK_THROWS_WITH_AS(file.get("b", DType::u8),
                       "update 9: tensor \"b\" is missing", Error);
  CHECK_THROWS_WITH_AS(
      file.get("a", DType::u8, {2}),
      "update 9: tensor \"a\": expected U8 [2], found U8 [2,1]", Error);
  CHECK_THROWS_AS(file.get("a", DType::boolean), Error);
}

TEST_CASE("what others write is read: any order, spaces, no padding") {
  CHECK_FALSE(is_refused("{}"));
  CHECK_FALSE(is_refused("{}   "));
  CHECK_FALSE(is_refused(R"({"__metadata__":{"format":"pt"}})"));
  CHECK_FALSE(is_refused(
      R"( {"b":{"shape":[2],"data_offsets":[1,3],"dtype":"BOOL"},
           "a":{"dtype":"F8_E4M3","shape":[],"data_offsets":[0,1]}})",
      "abc"));
}

TEST_CASE("lengths and offsets are never believed") {
  CHECK(is_refused("", ""));
  CHECK(is_refused("[]"));
  CHECK(is_refused("{}", "data of nobody"));
  auto one = [](std::string_view shape, std::string_view offsets) {
    return R"({"a":{"dtype":"F32","shape":)" + std::string(shape) +
           R"(,"data_offsets":)" + std::string(offsets) + "}}";
  };
  CHECK_FALSE(is_refused(one("[1]", "[0,4]"), "1234"));
  CHECK(is_refused(one("[1]", "[0,5]"), "12345"));
  CHECK(is_refused(one("[1]", "[0,8]"), "1234"));
  CHECK(is_refused(one("[1]", "[4,0]"), "1234"));
  CHECK(is_refused(one("[0]", "[4,4]"), "1234"));
  CHECK(is_refused(one("[1]", "[0,4,4]"), "1234"));
  CHECK(is_refused(one("[1]", "[0]"), "1234"));
  CHECK(is_refused(one("[1]", "[-4,0]"), "1234"));
  CHECK(is_refused(one("[1.0]", "[0,4]"), "1234"));
  CHECK(is_refused(one("1", "[0,4]"), "1234"));
  CHECK(is_refused(one("[[1]]", "[0,4]"), "1234"));
  // 2^62 floats are 2^64 bytes: 0 when the product wraps
  CHECK(is_refused(one("[4611686018427387904]", "[0,0]")));
  CHECK(is_refused(one("[4294967296,4294967296,0]", "[0,0]")));
  CHECK(is_refused(one("[1]", "[18446744073709551612,18446744073709551616]"),
                   "1234"));
}

TEST_CASE("overlaps, holes and twins are refused") {
  auto two = [](std::string_view first, std::string_view second,
                std::string_view second_name = "b") {
    return R"({"a":{"dtype":"U8","shape":[2],"data_offsets":)" +
           std::string(first) + R"(},")" + std::string(second_name) +
           R"(":{"dtype":"U8","shape":[2],"data_offsets":)" +
           std::string(second) + "}}";
  };
  CHECK_FALSE(is_refused(two("[0,2]", "[2,4]"), "1234"));
  CHECK_FALSE(is_refused(two("[2,4]", "[0,2]"), "1234"));
  CHECK(is_refused(two("[0,2]", "[1,3]"), "123"));
  CHECK(is_refused(two("[0,2]", "[0,2]"), "12"));
  CHECK(is_refused(two("[0,2]", "[3,5]"), "12345"));
  CHECK(is_refused(two("[1,3]", "[3,5]"), "12345"));
  CHECK(is_refused(two("[0,2]", "[2,4]"), "12345"));
  CHECK(is_refused(two("[0,2]", "[2,4]", "a"), "1234"));
}

TEST_CASE("other faults of a header are refused") {
  CHECK(is_refused(R"({"__metadata__":{"n":1}})"));
  CHECK(is_refused(R"({"__metadata__":[]})"));
  CHECK(is_refused(R"({"a":[]})"));
  CHECK(is_refused(R"({"a":{"dtype":"F32","shape":[]}})"));
  CHECK(is_refused(R"({"a":{"dtype":"F3","shape":[],"data_offsets":[0,4]}})",
                   "1234"));
  CHECK(is_refused(std::string(1 << 20, '[')));
  Bytes huge = container("{}");
  huge[7] = 0x7f;  // a header of 2^62 bytes
  CHECK_THROWS_AS(Safetensors(huge, "test"), Error);
  CHECK_THROWS_AS(Safetensors({}, "test"), Error);
  Bytes long_header = container(std::string((1 << 20) + 1, ' '));
  CHECK_THROWS_WITH_AS(Safetensors(long_header, "test"),
                       "test: header of 1048577 bytes, allowed are 1048576",
                       Error);
}

TEST_CASE("parameters come back with every bit") {
  ModelSpec model = test::sample_model();
  std::vector<float> values = numbers(parameter_count(model));
  values[3] = -0.0F;
  values[4] = 1e-45F;
  values[5] = std::numeric_limits<float>::infinity();
  Bytes bytes = write_parameters(model, values);
  std::vector<float> back = read_parameters(model, bytes, "snapshot 1");
  REQUIRE(back.size() == values.size());
  CHECK(std::memcmp(back.data(), values.data(), 4 * values.size()) == 0);
  CHECK(write_parameters(model, back) == bytes);
}

TEST_CASE("parameters are written from where they lie") {
  const ModelSpec model = test::sample_model();
  std::vector<float> values = numbers(parameter_count(model));
  const Bytes bytes = write_parameters(model, values);
  const ByteParts parts = parameter_parts(model, values);
  CHECK(parts.joined() == bytes);
  CHECK(parts.parts().back().data() ==
        reinterpret_cast<const std::uint8_t*>(values.data()));
  values[0] = float_of_bits(0xffc12345);
  CHECK(parameter_parts(model, values).joined() ==
        write_parameters(model, values));
  CHECK(bits(values[0]) == 0xffc12345);
}

TEST_CASE("parameters are read where they lie in a file") {
  const test::TemporaryFolder folder;
  auto mapped = [&](const Bytes& bytes) {
    write_file_durably(folder / "snapshot", bytes);
    return MappedFile(folder / "snapshot");
  };
  // little is copied, much is not
  for (std::uint32_t neurons : {3U, 400U}) {
    const ModelSpec model{"mlp", {784, neurons, 10}};
    const std::vector<float> values = numbers(parameter_count(model));
    const Bytes bytes = write_parameters(model, values);
    MappedFile file = mapped(bytes);
    const std::uint8_t* begin = file.bytes().data();
    const std::uint8_t* end = begin + file.bytes().size();
    const ParameterValues found =
        map_parameters(model, std::move(file), "snapshot 1");
    CHECK(std::vector(found.all().begin(), found.all().end()) == values);
    const auto* data =
        reinterpret_cast<const std::uint8_t*>(found.all().data());
    CHECK((data >= begin && data < end) == (neurons == 400));
    const ModelSpec other{"mlp", {784, neurons, 11}};
    CHECK_THROWS_AS(map_parameters(other, mapped(bytes), "snapshot 1"), Error);
  }
}

TEST_CASE("parameters that lie unaligned in a file are copied") {
  // given a header with one space more than ours
  const ModelSpec model{"mlp", {784, 400, 10}};
  const std::vector<float> values = numbers(parameter_count(model));
  Bytes bytes = write_parameters(model, values);
  std::uint64_t length = 0;
  std::memcpy(&length, bytes.data(), 8);
  bytes.insert(bytes.begin() + 8 + static_cast<std::ptrdiff_t>(length), ' ');
  ++length;
  std::memcpy(bytes.data(), &length, 8);
  const test::TemporaryFolder folder;
  write_file_durably(folder / "snapshot", bytes);
  const ParameterValues found =
      map_parameters(model, MappedFile(folder / "snapshot"), "snapshot 1");
  CHECK(std::vector(found.all().begin(), found.all().end()) == values);
}

TEST_CASE("every NaN is written as the same one") {
  ModelSpec model = test::sample_model();
  std::vector<float> values = numbers(parameter_count(model));
  values[0] = float_of_bits(0xffc12345);
  std::vector<float> back =
      read_parameters(model, write_parameters(model, values), "test");
  CHECK(bits(back[0]) == kCanonicalNan);
}

TEST_CASE("parameters of another model are refused") {
  Bytes bytes = write_parameters({"mlp", {2, 3, 2}}, numbers(17));
  for (const ModelSpec& other :
       {ModelSpec{"mlp", {3, 2, 2}}, ModelSpec{"mlp", {2, 2}},
        ModelSpec{"mlp", {2, 3, 2, 2}}}) {
    CHECK_THROWS_AS(read_parameters(other, bytes, "snapshot 1"), Error);
  }
}

TEST_CASE("parameters out of declared order are refused") {
  ModelSpec model{"mlp", {1, 1}};
  const std::vector<float> values{1.0F, 2.0F};
  ByteView data{reinterpret_cast<const std::uint8_t*>(values.data()), 8};
  std::vector<TensorView> tensors{
      {"0.bias", DType::f32, {1}, data.first(4)},
      {"0.weight", DType::f32, {1, 1}, data.last(4)}};
  Bytes bytes = write_safetensors(tensors);
  CHECK_THROWS_WITH_AS(read_parameters(model, bytes, "update 1"),
                       "update 1: tensor \"0.weight\" is not in its place",
                       Error);
}

TEST_CASE("files of other software are read") {
  auto folder = test::data_path("interop/safetensors");
  if (!folder) {
    MESSAGE("skipped: QUORATE_DATA has no interop/safetensors");
    return;
  }
  std::size_t files = 0;
  for (const auto& entry : fs::directory_iterator(*folder)) {
    if (entry.path().extension() != ".safetensors") continue;
    CAPTURE(entry.path().string());
    Bytes bytes = read_file(entry.path());
    Safetensors file(bytes, entry.path().string());
    CHECK_FALSE(file.tensors().empty());
    ++files;
  }
  CHECK(files == 11);
  Bytes bytes = read_file(*folder / "linear_with_bias.safetensors");
  Safetensors linear(bytes, "linear");
  CHECK(linear.tensors().size() == 2);
  for (const TensorView& tensor : linear.tensors()) {
    CHECK(tensor.dtype == DType::f32);
  }
}

TEST_CASE("a trained network of other software is read") {
  auto path = test::data_path("interop/mnist_cnn_bn.safetensors");
  if (!path) {
    MESSAGE("skipped: QUORATE_DATA has no interop/mnist_cnn_bn.safetensors");
    return;
  }
  Bytes bytes = read_file(*path);
  Safetensors file(bytes, "mnist_cnn_bn");
  CHECK_NOTHROW(file.get("conv1.weight", DType::f32, {8, 1, 3, 3}));
  CHECK_NOTHROW(file.get("fc2.weight", DType::f32, {10, 32}));
  CHECK_NOTHROW(file.get("norm1.running_var", DType::f32, {24}));
  CHECK_NOTHROW(file.get("norm1.num_batches_tracked", DType::i64));
}

}  // namespace quorate

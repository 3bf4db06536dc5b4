#include "workunits/objects/update.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "base/arithmetic.h"
#include "base/error.h"
#include "tests/support/samples.h"
#include "tests/support/temporary_folder.h"
#include "workunits/objects/safetensors.h"

namespace quorate {
namespace {

constexpr Codec kAll[] = {Codec::fp32, Codec::int8,    Codec::int4,
                          Codec::int2, Codec::ternary, Codec::sign};

// What is wrong with the bytes; empty: they are read.
std::string fault(const TrainingTask& task, ByteView bytes) {
  try {
    decode_update(task, bytes, "update 1");
    return "";
  } catch (const Error& error) {
    CHECK(error.kind() == ErrorKind::corrupt);
    return error.what();
  }
}

TrainingTask task_of(const char* model, Codec codec) {
  TrainingTask task = test::sample_task();
  task.model = parse_model(model, {28, 28, 1}, 10);
  task.codec = codec;
  return task;
}

}  // namespace

TEST_CASE("an update's size follows from its task") {
  for (Codec codec : kAll) {
    CAPTURE(name_of(codec));
    const TrainingTask task = test::sample_codec_task(codec);
    const std::vector<float> delta = test::sample_delta(task.model);
    const Bytes bytes = encode_update(task, delta);
    CHECK(bytes.size() == update_bytes(task));
    CHECK(decode_update(task, bytes, "update 1").size() == delta.size());
    CHECK(encode_update(task, std::vector<float>(delta.size(), 0.0F)).size() ==
          bytes.size());
  }
  // Blocks of mlp:256: 784 of the first weight, one of its bias, ten of the
  // second weight, one of ten values; data begin at byte 192.
  CHECK(update_bytes(task_of("mlp:256", Codec::fp32)) == 320 + 4 * 203530);
  CHECK(update_bytes(task_of("mlp:256", Codec::int8)) ==
        192 + 4 * 796 + 203530);
  CHECK(update_bytes(task_of("mlp:256", Codec::ternary)) ==
        192 + 4 * 796 + 795 * 52 + 2);
  CHECK(update_bytes(task_of("mlp:256", Codec::sign)) ==
        192 + 4 * 796 + 795 * 32 + 2);
}

TEST_CASE("the file names its codec and holds scales, statistics, codes") {
  const TrainingTask task = test::sample_codec_task(Codec::int4);
  const Bytes bytes = encode_update(task, test::sample_delta(task.model));
  const Safetensors file(bytes, "update");
  CHECK(file.metadata() ==
        std::map<std::string, std::string>{{"codec", "int4"}});
  REQUIRE(file.tensors().size() == 3);
  // 272 = 256 + 16, 17, 17, 17, 51 and 3 values
  file.get("scales", DType::f32, {7});
  file.get("statistics", DType::f32, {34});
  file.get("codes", DType::u8, {128 + 8 + 9 + 9 + 9 + 26 + 2});
}

TEST_CASE("running statistics keep all their bits in every codec") {
  for (Codec codec : kAll) {
    CAPTURE(name_of(codec));
    const TrainingTask task = test::sample_codec_task(codec);
    const std::vector<float> delta = test::sample_delta(task.model);
    const std::vector<float> back =
        decode_update(task, encode_update(task, delta), "update 1");
    for (std::size_t i = trainable_count(task.model); i < delta.size(); ++i) {
      CHECK(bits(back[i]) == bits(delta[i]));
    }
    if (codec != Codec::fp32) CHECK(back != delta);
  }
}

TEST_CASE("a tensor's scale is not that of the one before it") {
  TrainingTask task = task_of("mlp:none", Codec::int4);  // 7840 and 10 values
  std::vector<float> delta(parameter_count(task.model), 1.0F);
  for (std::size_t i = 7840; i < delta.size(); ++i) delta[i] = 1e-6F;
  CHECK(decode_update(task, encode_update(task, delta), "update") == delta);
}

TEST_CASE("the unit's seed decides how values are rounded") {
  TrainingTask task = test::sample_codec_task(Codec::int4);
  const std::vector<float> delta = test::sample_delta(task.model);
  const Bytes first = encode_update(task, delta);
  CHECK(encode_update(task, delta) == first);
  ++task.unit_seed;
  CHECK(encode_update(task, delta) != first);
}

TEST_CASE("what is written again is what was read") {
  // The values of an update lie on levels, so that they cannot be rounded
  // otherwise: a second file of the same values would be the same file.
  for (Codec codec : kAll) {
    CAPTURE(name_of(codec));
    TrainingTask task = test::sample_codec_task(codec);
    const Bytes bytes = encode_update(task, test::sample_delta(task.model));
    const std::vector<float> values = decode_update(task, bytes, "update");
    ++task.unit_seed;
    const Bytes again = encode_update(task, values);
    if (codec == Codec::ternary || codec == Codec::sign ||
        codec == Codec::fp32) {
      CHECK(again == bytes);
    }
    CHECK(decode_update(task, again, "update").size() == values.size());
  }
}

// A big model: two layers, a batch norm between them.
TrainingTask big_task(Codec codec) {
  TrainingTask task = test::sample_task();
  task.model = parse_model(
      R"(layers {"layers":[{"layer":"flatten"},{"layer":"linear","outputs":401},
                           {"layer":"batch_norm"},{"layer":"relu"},
                           {"layer":"linear","outputs":10}]})",
      {28, 28, 1}, 10);
  task.codec = codec;
  return task;
}

MappedFile file_of(const test::TemporaryFolder& folder, ByteView bytes) {
  write_file_durably(folder / "update", bytes);
  return MappedFile(folder / "update");
}

namespace {

std::vector<float> read_by_blocks(const ParameterValues& values,
                                  std::size_t count) {
  std::vector<float> room;
  std::vector<float> found;
  while (found.size() < values.size()) {
    const auto block = values.block(
        found.size(), std::min(count, values.size() - found.size()), room);
    found.insert(found.end(), block.begin(), block.end());
  }
  return found;
}

}  // namespace

TEST_CASE("an update's file is read by blocks of any size") {
  const test::TemporaryFolder folder;
  for (Codec codec : kAll) {
    for (const TrainingTask& task :
         {big_task(codec), test::sample_codec_task(codec)}) {
      CAPTURE(name_of(codec));
      const Bytes bytes = encode_update(task, test::sample_delta(task.model));
      const std::vector<float> expected = decode_update(task, bytes, "update");
      const ParameterValues mapped =
          map_update(task, file_of(folder, bytes), "update");
      const ParameterValues kept = keep_update(task, bytes, "update");
      for (const ParameterValues* values : {&mapped, &kept}) {
        REQUIRE(values->size() == expected.size());
        for (std::size_t count : {1U, 255U, 256U, 300U, 4096U}) {
          CHECK(read_by_blocks(*values, count) == expected);
        }
      }
    }
  }
}

TEST_CASE("an update's file in which something is wrong is refused at once") {
  const test::TemporaryFolder folder;
  for (Codec codec : kAll) {
    CAPTURE(name_of(codec));
    const TrainingTask task = big_task(codec);
    const Bytes good = encode_update(task, test::sample_delta(task.model));
    auto expect_refused = [&](const Bytes& bad) {
      const std::string expected = fault(task, bad);
      REQUIRE(!expected.empty());
      CHECK_THROWS_WITH_AS(map_update(task, file_of(folder, bad), "update 1"),
                           expected.c_str(), Error);
      CHECK_THROWS_WITH_AS(keep_update(task, bad, "update 1"), expected.c_str(),
                           Error);
    };
    expect_refused({good.begin(), good.end() - 1});
    // in every tensor, the last value: not finite, or a negative scale
    const Safetensors tensors(good, "good");
    for (const TensorView& tensor : tensors.tensors()) {
      if (tensor.dtype != DType::f32) continue;
      const auto end = tensor.data.data() + tensor.data.size() - good.data();
      Bytes bad = good;
      bad[static_cast<std::size_t>(end) - 1] = 0xff;
      bad[static_cast<std::size_t>(end) - 2] = 0xff;
      expect_refused(bad);
    }
  }
}

TEST_CASE("bytes that no update is written as are refused") {
  for (Codec codec : kAll) {
    CAPTURE(name_of(codec));
    const TrainingTask task = test::sample_codec_task(codec);
    const Bytes good = encode_update(task, test::sample_delta(task.model));
    CHECK(fault(task, good).empty());
    Bytes bad = good;
    bad.push_back(0);
    CHECK(fault(task, bad) ==
          fmt::format("update 1: expected {} bytes, found {}", good.size(),
                      bad.size()));
    const std::size_t head = 8 + ByteReader(good, "head").get<std::uint64_t>();
    for (std::size_t i = 0; i < head; ++i) {
      bad = good;
      bad[i] ^= 0x20;
      CHECK(fault(task, bad) ==
            fmt::format("update 1: its header is not that of an update of "
                        "this model by codec {}",
                        name_of(codec)));
    }
    bad = good;
    const std::uint32_t nan = kCanonicalNan;
    const std::size_t scales = codec == Codec::fp32 ? 0 : 4 * 7;
    std::memcpy(bad.data() + head + scales, &nan, sizeof(nan));
    CHECK(fault(task, bad) == "update 1: elements that are not finite");
  }
}

TEST_CASE("a fault in a block is told with the block") {
  const TrainingTask task = test::sample_codec_task(Codec::int8);
  Bytes bytes = encode_update(task, test::sample_delta(task.model));
  bytes.back() = 255;
  CHECK(fault(task, bytes) ==
        "update 1: block 6: a code beyond the last level");
}

}  // namespace quorate

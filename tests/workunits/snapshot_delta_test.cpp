#include "workunits/objects/snapshot_delta.h"

#include <cmath>
#include <limits>

#include <doctest/doctest.h>

#include "base/arithmetic.h"
#include "base/error.h"
#include "tests/support/samples.h"
#include "workunits/objects/safetensors.h"
#include "workunits/objects/update.h"

namespace quorate {
namespace {

constexpr Codec kCodecs[] = {Codec::int8, Codec::int4, Codec::int2,
                             Codec::ternary, Codec::sign};

const ModelSpec kModel = test::sample_codec_task(Codec::int4).model;

std::vector<float> some_snapshot() {
  std::vector<float> values(parameter_count(kModel));
  for (std::size_t i = 0; i < values.size(); ++i) {
    values[i] = std::sin(static_cast<float>(i)) * 0.3F;
  }
  return values;
}

std::vector<float> next_snapshot() {
  std::vector<float> values = some_snapshot();
  const std::vector<float> change = test::sample_delta(kModel);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] += change[i];
  return values;
}

double distance(const std::vector<float>& a, const std::vector<float>& b,
                std::size_t count) {
  double sum = 0;
  for (std::size_t i = 0; i < count; ++i) sum += std::fabs(a[i] - b[i]);
  return sum;
}

std::string fault(ByteView delta) {
  std::vector<float> values = some_snapshot();
  try {
    apply_snapshot_delta(kModel, delta, values, "delta 1");
    return "";
  } catch (const Error& error) {
    CHECK(error.kind() == ErrorKind::corrupt);
    CHECK(values == some_snapshot());
    return error.what();
  }
}

}  // namespace

TEST_CASE("a delta is an update of the difference, added") {
  for (Codec codec : kCodecs) {
    CAPTURE(name_of(codec));
    const std::vector<float> from = some_snapshot();
    const std::vector<float> to = next_snapshot();
    const Bytes delta = encode_snapshot_delta({kModel, codec, 9}, from, to);
    CHECK(delta.size() == snapshot_delta_bytes(kModel, codec));
    std::vector<float> found = from;
    apply_snapshot_delta(kModel, delta, found, "delta 1");
    // by its words in docs/numerics.md
    TrainingTask task = test::sample_codec_task(codec);
    task.unit_seed = 9;
    std::vector<float> change(to.size());
    const std::size_t learned = trainable_count(kModel);
    for (std::size_t i = 0; i < to.size(); ++i) {
      change[i] = i < learned ? to[i] - from[i] : to[i];
    }
    CHECK(encode_by_blocks(task, change, 1) == delta);
    for (std::size_t threads : {2U, 5U}) {
      CHECK(encode_snapshot_delta({kModel, codec, 9}, from, to, threads) ==
            delta);
    }
    change = decode_update(task, delta, "update");
    for (std::size_t i = 0; i < to.size(); ++i) {
      CHECK(bits(found[i]) == bits(i < learned ? from[i] + change[i] : to[i]));
    }
  }
}

TEST_CASE("what rounding left out comes with the next deltas") {
  for (Codec codec : {Codec::int8, Codec::int4}) {
    CAPTURE(name_of(codec));
    const std::vector<float> to = next_snapshot();
    std::vector<float> values = some_snapshot();
    const std::size_t learned = trainable_count(kModel);
    const double at_first = distance(values, to, learned);
    for (std::uint64_t version = 1; version <= 6; ++version) {
      const Bytes delta =
          encode_snapshot_delta({kModel, codec, version}, values, to);
      apply_snapshot_delta(kModel, delta, values, "delta");
    }
    CHECK(distance(values, to, learned) < 1e-3 * at_first);
  }
}

TEST_CASE("every version is rounded with random numbers of its own") {
  const std::vector<float> from = some_snapshot();
  const std::vector<float> to = next_snapshot();
  CHECK(encode_snapshot_delta({kModel, Codec::int4, 1}, from, to) !=
        encode_snapshot_delta({kModel, Codec::int4, 2}, from, to));
}

TEST_CASE("a model that is no longer finite shows in its next snapshot") {
  std::vector<float> to = next_snapshot();
  to[3] = std::numeric_limits<float>::infinity();
  std::vector<float> values = some_snapshot();
  apply_snapshot_delta(
      kModel, encode_snapshot_delta({kModel, Codec::int4, 1}, values, to),
      values, "delta");
  CHECK(std::fabs(values[3]) > 1e38F);
  // and a running statistic does not stop it
  to.back() = std::numeric_limits<float>::infinity();
  to[to.size() - 2] = std::numeric_limits<float>::quiet_NaN();
  apply_snapshot_delta(
      kModel, encode_snapshot_delta({kModel, Codec::int4, 1}, values, to),
      values, "delta");
  CHECK(values.back() == std::numeric_limits<float>::max());
  CHECK(values[values.size() - 2] == std::numeric_limits<float>::max());
}

TEST_CASE("bytes that no delta has are refused, and change nothing") {
  const Bytes delta = encode_snapshot_delta({kModel, Codec::int4, 1},
                                            some_snapshot(), next_snapshot());
  CHECK(fault(delta).empty());
  Bytes longer = delta;
  longer.push_back(0);
  CHECK(fault(longer).find("delta 1") == 0);
  CHECK(fault(ByteView(delta).first(delta.size() - 1)).find("delta 1") == 0);
  CHECK(fault({}).find("delta 1") == 0);
  // a whole snapshot, of no codec
  CHECK(fault(write_parameters(kModel, some_snapshot())) ==
        "delta 1: it names no codec of blocks");
  // of another model
  TrainingTask other = test::sample_image_task();
  other.codec = Codec::int4;
  CHECK(fault(encode_update(other, test::sample_delta(other.model)))
            .find("delta 1: expected ") == 0);
}

}  // namespace quorate

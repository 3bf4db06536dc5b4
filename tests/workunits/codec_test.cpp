// Exact bytes stand in golden/update_*.safetensors, which numpy writes again
// from the equations of docs/numerics.md (tests/pipeline/codecs_test.py).
#include "workunits/codec.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include <doctest/doctest.h>

#include "base/arithmetic.h"

namespace quorate {
namespace {

constexpr float kLargest = std::numeric_limits<float>::max();
constexpr float kSmallest = std::numeric_limits<float>::denorm_min();
constexpr std::array kCodecs = {Codec::int8, Codec::int4, Codec::int2,
                                Codec::ternary, Codec::sign};

struct Block {
  float scale = 0;
  Bytes codes;
};

Block encoded(Codec codec, std::span<const float> values,
              std::uint64_t seed = 7) {
  Block block;
  block.codes.resize(code_bytes(codec, values.size()));
  RandomStream random(seed, stream_of(RandomUse::codec), 0);
  block.scale = encode_block(codec, values, random, block.codes);
  return block;
}

std::string_view fault(Codec codec, const Block& block, std::size_t values) {
  std::vector<float> out(values);
  return decode_block(codec, block.scale, block.codes, out);
}

std::vector<float> decoded(Codec codec, const Block& block,
                           std::size_t values) {
  std::vector<float> out(values);
  CHECK(decode_block(codec, block.scale, block.codes, out) == "");
  CHECK(all_finite(out));
  return out;
}

std::vector<float> noise(std::size_t count, std::uint64_t key = 3) {
  RandomStream random(key, 0, 0);
  std::vector<float> values(count);
  std::generate(values.begin(), values.end(),
                [&] { return uniform11(random.next()); });
  return values;
}

// Distance of two levels, in scales; of sign there is no such bound.
float step(Codec codec) {
  switch (codec) {
    case Codec::int8:
      return 1.0F / 127;
    case Codec::int4:
      return 1.0F / 7;
    case Codec::int2:
      return 2.0F / 3;
    default:
      return 1.0F;
  }
}

}  // namespace

TEST_CASE("codecs are known by their names") {
  for (std::string_view name : codec_names()) {
    CHECK(name_of(codec_called(name).value()) == name);
  }
  CHECK(codec_names().front() == "fp32");
  CHECK(codec_names().size() == kCodecs.size() + 1);
  CHECK(!codec_called("int9"));
  CHECK(!codec_called(""));
}

TEST_CASE("codes take as many bytes as their levels need") {
  CHECK(code_bytes(Codec::int8, 256) == 256);
  CHECK(code_bytes(Codec::int4, 256) == 128);
  CHECK(code_bytes(Codec::int2, 256) == 64);
  CHECK(code_bytes(Codec::ternary, 256) == 52);
  CHECK(code_bytes(Codec::sign, 256) == 32);
  for (Codec codec : kCodecs) CHECK(code_bytes(codec, 1) == 1);
}

TEST_CASE("what is on a level comes back as it was") {
  const std::vector<float> values = {-2, 2, 0, -0.0F, 2, -2, 0};
  for (Codec codec : {Codec::int8, Codec::int4, Codec::ternary}) {
    CAPTURE(name_of(codec));
    const Block block = encoded(codec, values);
    CHECK(block.scale == 2.0F);
    const std::vector<float> back = decoded(codec, block, values.size());
    CHECK(back == values);
    CHECK(!std::signbit(back[3]));  // of a zero there is one
  }
  CHECK(encoded(Codec::int8, values).codes ==
        Bytes{0, 254, 127, 127, 254, 0, 127});
  CHECK(encoded(Codec::int4, values).codes == Bytes{0xe0, 0x77, 0x0e, 0x07});
  // 0 + 3*2 + 9*1 + 27*1 + 81*2, and 0 + 3*1
  CHECK(encoded(Codec::ternary, values).codes == Bytes{204, 3});
}

TEST_CASE("signs are those of the values, their scale the mean magnitude") {
  const std::vector<float> values = {-1, 2, 3, -4, 0.5F, -0.5F, -9, 8, 1, 1};
  const Block block = encoded(Codec::sign, values);
  CHECK(block.scale == 3.0F);
  CHECK(block.codes == Bytes{0b10010110, 0b11});
  // All words are drawn, whatever they are for.
  CHECK(encoded(Codec::sign, values, 8).codes == block.codes);
}

TEST_CASE("the sign of a zero is drawn") {
  std::vector<float> values(256, 0.0F);
  values[0] = 1;
  for (std::size_t i = 1; i < values.size(); i += 2) values[i] = -0.0F;
  double sum = 0;
  for (std::uint64_t seed = 0; seed < 64; ++seed) {
    const Block block = encoded(Codec::sign, values, seed);
    CHECK(block.scale == 1.0F / 256);
    CHECK((block.codes[0] & 1) == 1);
    for (float value : decoded(Codec::sign, block, values.size())) {
      sum += value > 0 ? 1 : -1;
    }
  }
  CHECK(std::fabs(sum - 64) < 5 * std::sqrt(64 * 255));
}

TEST_CASE("no value goes further than to the next level") {
  for (Codec codec : kCodecs) {
    if (codec == Codec::sign) continue;
    CAPTURE(name_of(codec));
    for (std::size_t count : {1U, 2U, 3U, 7U, 8U, 9U, 255U, 256U}) {
      const std::vector<float> values = noise(count);
      const Block block = encoded(codec, values);
      const std::vector<float> back = decoded(codec, block, count);
      for (std::size_t i = 0; i < count; ++i) {
        CHECK(std::fabs(back[i] - values[i]) <=
              1.0001F * step(codec) * block.scale);
      }
    }
  }
}

TEST_CASE("over many seeds the mean of what comes back is the value") {
  constexpr std::uint64_t kSeeds = 4000;
  const std::vector<float> values = noise(24);
  for (Codec codec : kCodecs) {
    if (codec == Codec::sign) continue;
    CAPTURE(name_of(codec));
    std::vector<double> sums(values.size());
    for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
      const Block block = encoded(codec, values, seed);
      const std::vector<float> back = decoded(codec, block, values.size());
      for (std::size_t i = 0; i < sums.size(); ++i) sums[i] += back[i];
    }
    // A value between two levels has at most half their distance as deviation.
    const double bound = 5 * 0.5 * step(codec) / std::sqrt(double{kSeeds});
    for (std::size_t i = 0; i < sums.size(); ++i) {
      CHECK(std::fabs(sums[i] / kSeeds - values[i]) < bound);
    }
  }
}

TEST_CASE("a block of zeros has no scale and no codes") {
  const std::vector<float> zeros = {0.0F, -0.0F, 0.0F};
  for (Codec codec : kCodecs) {
    CAPTURE(name_of(codec));
    Block block = encoded(codec, zeros);
    CHECK(bits(block.scale) == 0);
    CHECK(block.codes == Bytes(block.codes.size(), 0));
    for (float value : decoded(codec, block, 3)) CHECK(bits(value) == 0);
    block.codes.back() = 1;
    CHECK(fault(codec, block, 3) == "codes without a scale");
  }
}

TEST_CASE("magnitudes at the ends of binary32") {
  for (Codec codec : kCodecs) {
    CAPTURE(name_of(codec));
    std::vector<float> values(256, kLargest);
    values[1] = -kLargest;
    Block block = encoded(codec, values);
    CHECK(block.scale == kLargest);
    CHECK(decoded(codec, block, values.size()) == values);
    values[2] = std::numeric_limits<float>::infinity();
    values[3] = -values[2];
    block = encoded(codec, values);
    CHECK(decoded(codec, block, values.size())[2] == kLargest);
    CHECK(decoded(codec, block, values.size())[3] == -kLargest);
    const std::vector<float> smallest = {kSmallest, -kSmallest, 0};
    const Block tiny = encoded(codec, smallest);
    CHECK(decoded(codec, tiny, 3)[0] == kSmallest);
  }
  // Their mean vanishes: nothing is left of the block.
  std::vector<float> alone(256, 0.0F);
  alone[0] = kSmallest;
  const Block block = encoded(Codec::sign, alone);
  CHECK(block.scale == 0.0F);
  CHECK(block.codes == Bytes(32, 0));
}

TEST_CASE("a word is drawn for every value, used or not") {
  for (Codec codec : kCodecs) {
    const std::vector<float> zeros(5, 0.0F);
    Bytes codes(code_bytes(codec, 5));
    RandomStream random(7, 1, 2);
    encode_block(codec, zeros, random, codes);
    CHECK(random.next() == random_word(7, 1, 2, 5));
  }
}

TEST_CASE("codes that no block is written as are refused") {
  const float infinity = std::numeric_limits<float>::infinity();
  for (Codec codec : kCodecs) {
    CAPTURE(name_of(codec));
    const std::vector<float> values = noise(11);
    const Block good = encoded(codec, values);
    for (float scale : {-1.0F, -0.0F, infinity, -infinity,
                        std::numeric_limits<float>::quiet_NaN()}) {
      Block bad = good;
      bad.scale = scale;
      CHECK(fault(codec, bad, 11) == "a scale that is negative or not finite");
    }
  }
  CHECK(fault(Codec::int8, {1, {0, 255}}, 2) == "a code beyond the last level");
  CHECK(fault(Codec::int4, {1, {0xf0}}, 2) == "a code beyond the last level");
  CHECK(fault(Codec::int4, {1, {0x0f, 0}}, 4) ==
        "a code beyond the last level");
  CHECK(fault(Codec::ternary, {1, {243, 0}}, 6) ==
        "a code beyond the last level");
  CHECK(fault(Codec::ternary, {1, {243}}, 5) == "codes behind the last value");
  // 0 1, then digits that belong to no value
  CHECK(fault(Codec::ternary, {1, {3 + 9}}, 2) ==
        "codes behind the last value");
  CHECK(fault(Codec::int4, {1, {0x10}}, 1) == "codes behind the last value");
  CHECK(fault(Codec::int2, {1, {0x40}}, 3) == "codes behind the last value");
  CHECK(fault(Codec::sign, {1, {0x80}}, 7) == "codes behind the last value");
  // Half the scale and codes twice as far out would mean the same.
  CHECK(fault(Codec::int8, {1, {1, 127, 253}}, 3) ==
        "a scale that no value reaches");
  CHECK(fault(Codec::int4, {1, {0x77}}, 2) == "a scale that no value reaches");
  CHECK(fault(Codec::int2, {1, {0x29}}, 3) == "a scale that no value reaches");
  CHECK(fault(Codec::ternary, {1, {4}}, 2) == "a scale that no value reaches");
}

}  // namespace quorate

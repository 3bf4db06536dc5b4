// Bytes from outside: cut short, changed, prolonged. Run under the address
// and undefined sanitizers, this is where a careless reader shows.
#include <algorithm>
#include <optional>

#include <doctest/doctest.h>

#include "base/error.h"
#include "base/random.h"
#include "tests/support/formats.h"

namespace quorate {
namespace {

// How the reader ends; nullopt: it takes the bytes.
std::optional<ErrorKind> refusal(const test::Format& format, ByteView bytes) {
  try {
    format.read(bytes);
    return {};
  } catch (const Error& error) {
    return error.kind();
  }
}

// A reader of foreign bytes blames the bytes, or says it cannot read them.
bool is_proper(std::optional<ErrorKind> kind) {
  return !kind || kind == ErrorKind::corrupt || kind == ErrorKind::unsupported;
}

}  // namespace

TEST_CASE("a file cut short at any byte is corrupt") {
  for (const test::Format& format : test::formats()) {
    CAPTURE(format.name);
    for (std::size_t size = 0; size < format.sample.size(); ++size) {
      // a copy of just that size, so that a sanitizer sees reads beyond it
      Bytes cut(format.sample.begin(),
                format.sample.begin() + static_cast<std::ptrdiff_t>(size));
      CAPTURE(size);
      CHECK(refusal(format, cut) == ErrorKind::corrupt);
    }
  }
}

TEST_CASE("a byte too many is corrupt") {
  for (const test::Format& format : test::formats()) {
    CAPTURE(format.name);
    for (std::uint8_t extra : {std::uint8_t{0}, std::uint8_t{' '}}) {
      Bytes longer = format.sample;
      longer.push_back(extra);
      CHECK(refusal(format, longer) == ErrorKind::corrupt);
    }
  }
}

TEST_CASE("a flipped bit is read or refused, nothing else") {
  for (const test::Format& format : test::formats()) {
    CAPTURE(format.name);
    for (std::size_t bit = 0; bit < 8 * format.sample.size(); ++bit) {
      Bytes changed = format.sample;
      changed[bit / 8] ^= static_cast<std::uint8_t>(1U << bit % 8);
      CAPTURE(bit);
      auto kind = refusal(format, changed);
      CHECK(is_proper(kind));
      bool is_sealed = format.name == "sealed" || format.name == "receipt" ||
                       format.name == "offer";
      if (is_sealed) CHECK(kind == ErrorKind::corrupt);
    }
  }
}

TEST_CASE("random damage is read or refused, nothing else") {
  RandomStream random(1, 2, 3);
  for (const test::Format& format : test::formats()) {
    CAPTURE(format.name);
    auto size = static_cast<std::uint32_t>(format.sample.size());
    for (int round = 0; round < 500; ++round) {
      Bytes changed = format.sample;
      for (int i = 0; i < 4; ++i) {
        changed[integer_below(random.next(), size)] =
            static_cast<std::uint8_t>(random.next());
      }
      CHECK(is_proper(refusal(format, changed)));
    }
  }
}

TEST_CASE("random bytes are corrupt") {
  RandomStream random(4, 5, 6);
  for (const test::Format& format : test::formats()) {
    CAPTURE(format.name);
    for (std::size_t size = 0; size < 300; ++size) {
      Bytes noise(size);
      std::generate(noise.begin(), noise.end(), [&random] {
        return static_cast<std::uint8_t>(random.next());
      });
      CHECK(refusal(format, noise) == ErrorKind::corrupt);
    }
  }
}

}  // namespace quorate

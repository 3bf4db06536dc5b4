// Every message, cut at every byte and with every byte changed: it is read as
// something or refused as corrupt, and nothing else happens.
#include <doctest/doctest.h>

#include "base/error.h"
#include "base/random.h"
#include "tests/protocol/samples.h"

namespace quorate::protocol {
namespace {

bool is_read_or_corrupt(const Sample& sample, const std::string& bytes) {
  try {
    sample.rewrite(bytes);
    return true;
  } catch (const Error& error) {
    return error.kind() == ErrorKind::corrupt;
  }
}

std::vector<Sample> all_samples() {
  std::vector<Sample> all = native_samples();
  for (Sample& sample : worker_samples()) all.push_back(std::move(sample));
  return all;
}

}  // namespace

TEST_CASE("a message that is cut short is refused") {
  for (const Sample& sample : all_samples()) {
    for (std::size_t size = 0; size < sample.bytes.size(); ++size) {
      CAPTURE(sample.name);
      CAPTURE(size);
      CHECK_THROWS_AS(sample.rewrite(sample.bytes.substr(0, size)), Error);
    }
  }
}

TEST_CASE("a message with one changed byte is read or refused") {
  constexpr std::string_view kBytes("\0\"\\{}[]:,-9eE.x\x7f\xff", 17);
  for (const Sample& sample : all_samples()) {
    for (std::size_t at = 0; at < sample.bytes.size(); ++at) {
      for (char byte : kBytes) {
        std::string bytes = sample.bytes;
        bytes[at] = byte;
        CAPTURE(bytes);
        REQUIRE(is_read_or_corrupt(sample, bytes));
      }
    }
  }
}

TEST_CASE("a message with many changes is read or refused") {
  RandomStream random(1, 2, 3);
  std::vector<Sample> samples = all_samples();
  for (int round = 0; round < 20000; ++round) {
    const Sample& sample =
        samples[random.next() % static_cast<std::uint32_t>(samples.size())];
    std::string bytes = sample.bytes;
    for (std::uint32_t i = 0; i <= random.next() % 6; ++i) {
      std::size_t at = random.next() % bytes.size();
      std::size_t from = random.next() % bytes.size();
      std::size_t size = random.next() % 24;
      bytes.insert(at, bytes.substr(from, size));  // pieces in wrong places
    }
    CAPTURE(bytes);
    REQUIRE(is_read_or_corrupt(sample, bytes));
  }
}

}  // namespace quorate::protocol

// Reads again, in every build, what the fuzzer was given and what it found.
#include <map>

#include <doctest/doctest.h>

#include "base/file.h"
#include "tests/fuzz/targets.h"

namespace quorate::fuzz {
namespace {

const fs::path kCorpus = QUORATE_FUZZ_CORPUS;

}  // namespace

TEST_CASE("every target has seeds, and takes or refuses all of its corpus") {
  for (const Target& target : targets()) {
    CAPTURE(target.name);
    REQUIRE(fs::is_directory(kCorpus / target.name));
    int read = 0;
    for (const auto& entry : fs::directory_iterator(kCorpus / target.name)) {
      CAPTURE(entry.path());
      Bytes bytes = read_file(entry.path(), 1 << 20);
      target.read(bytes);
      ++read;
    }
    CHECK(read > 0);
    target.read({});
  }
}

TEST_CASE("every corpus belongs to a target") {
  std::map<std::string, int> known;
  for (const Target& target : targets()) ++known[target.name];
  for (const auto& entry : fs::directory_iterator(kCorpus)) {
    CAPTURE(entry.path());
    CHECK(known[entry.path().filename()] == 1);
  }
}

}  // namespace quorate::fuzz

#include "server/datasets/manifest.h"

#include <doctest/doctest.h>

#include "tests/server/datasets/files.h"

namespace quorate {
namespace {

DatasetManifest example() {
  DatasetManifest manifest;
  manifest.name = "digits";
  manifest.kind = "idx";
  manifest.shape = {28, 28, 1};
  manifest.classes = 2;
  manifest.seed = 0xfedcba9876543210;
  manifest.has_own_test = true;
  manifest.train = {{sha256(as_bytes("a")), 10240}, {sha256({}), 3}};
  manifest.test = {{sha256(as_bytes("b")), 100}};
  manifest.class_counts = {10000, 243};
  return manifest;
}

TEST_CASE("a manifest is read back as it was") {
  DatasetManifest manifest = example();
  CHECK(manifest_from_json(to_json(manifest), "m") == manifest);
  manifest.has_own_test = false;
  CHECK(manifest_from_json(to_json(manifest), "m") == manifest);
  CHECK(samples_of(manifest.train) == 10243);
}

TEST_CASE("a manifest cut at any byte is refused") {
  std::string text = to_json(example());
  for (std::size_t size = 0; size < text.size(); ++size) {
    (void)error_of(ErrorKind::corrupt, [&] {
      (void)manifest_from_json(text.substr(0, size), "datasets/digits.json");
    });
  }
}

TEST_CASE("a wrong field is named") {
  struct Case {
    const char* from;
    const char* to;
    const char* named;
  };
  const Case cases[] = {
      {"quorate dataset v1", "quorate dataset v2", "\"format\""},
      {"\"digits\"", "\"../x\"", "\"name\""},
      {"\"classes\":2", "\"classes\":0", "\"classes\""},
      {"\"classes\":2", "\"classes\":3", "\"class_counts\""},
      {"[10000,243]", "[10000,-1]", "\"class_counts\""},
      {"\"height\":28", "\"height\":0", "\"height\""},
      {"\"samples\":10240", "\"samples\":10241", "\"samples\""},
      {"\"samples\":3", "\"samples\":\"3\"", "\"samples\""},
      {"\"hash\":\"e3", "\"hash\":\"x3", "\"hash\""},
      {"\"test\":[", "\"test\":[],\"old\":[", "\"test\""},
  };
  for (const Case& c : cases) {
    CAPTURE(c.to);
    std::string text = to_json(example());
    std::size_t at = text.find(c.from);
    REQUIRE(at != std::string::npos);
    text.replace(at, std::string_view(c.from).size(), c.to);
    std::string message = error_of(ErrorKind::corrupt, [&] {
      (void)manifest_from_json(text, "datasets/digits.json");
    });
    CHECK(contains(message, "datasets/digits.json"));
    CHECK(contains(message, c.named));
  }
}

TEST_CASE("names are those of files and words") {
  for (const char* good : {"a", "fashion-mnist", "set_2", "0"}) {
    CHECK(is_dataset_name(good));
  }
  for (const char* bad : {"", "-a", "A", "a/b", "..", "a b", "\n"}) {
    CHECK(!is_dataset_name(bad));
  }
  CHECK(is_dataset_name(std::string(64, 'x')));
  CHECK(!is_dataset_name(std::string(65, 'x')));
}

}  // namespace
}  // namespace quorate

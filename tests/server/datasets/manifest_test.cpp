#include "server/datasets/manifest.h"

#include <doctest/doctest.h>

#include "tests/server/datasets/files.h"
#include "tests/support/data.h"
#include "workunits/objects/token_shard.h"

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

DatasetManifest text_example() {
  DatasetManifest manifest;
  manifest.name = "book";
  manifest.kind = "text";
  manifest.classes = 4;
  manifest.symbols = {'\n', ' ', 'a', 'b'};
  manifest.train = {{sha256(as_bytes("a")), kShardTokens}, {sha256({}), 3}};
  manifest.test = {{sha256(as_bytes("b")), 100}};
  manifest.class_counts = {8, 70, 1048501, 0};
  return manifest;
}

struct Change {
  const char* from;
  const char* to;
  const char* named;  // by the error
};

void expect_refused(const DatasetManifest& manifest, const Change& change) {
  CAPTURE(change.to);
  std::string text = to_json(manifest);
  std::size_t at = text.find(change.from);
  REQUIRE(at != std::string::npos);
  text.replace(at, std::string_view(change.from).size(), change.to);
  std::string message = error_of(ErrorKind::corrupt, [&] {
    (void)manifest_from_json(text, "datasets/digits.json");
  });
  CHECK(contains(message, "datasets/digits.json"));
  CHECK(contains(message, change.named));
}

TEST_CASE("golden: manifests are written as they always were") {
  auto expect_golden = [](const char* file, const DatasetManifest& manifest) {
    CAPTURE(file);
    std::string text = to_json(manifest);
    Bytes stored =
        test::golden(fs::path(QUORATE_GOLDEN) / file, as_bytes(text));
    CHECK(as_text(stored) == text);
    CHECK(manifest_from_json(std::string(as_text(stored)), file) == manifest);
  };
  expect_golden("images.json", example());
  expect_golden("text.json", text_example());
}

TEST_CASE("a manifest is read back as it was") {
  for (DatasetManifest manifest : {example(), text_example()}) {
    CHECK(manifest_from_json(to_json(manifest), "m") == manifest);
    manifest.has_own_test = !manifest.has_own_test;
    CHECK(manifest_from_json(to_json(manifest), "m") == manifest);
  }
  CHECK(samples_of(example().train) == 10243);
  CHECK(samples_of(text_example().train) == kShardTokens + 3);
}

TEST_CASE("a manifest cut at any byte is refused") {
  for (const DatasetManifest& manifest : {example(), text_example()}) {
    std::string text = to_json(manifest);
    for (std::size_t size = 0; size < text.size(); ++size) {
      (void)error_of(ErrorKind::corrupt, [&] {
        (void)manifest_from_json(text.substr(0, size), "datasets/digits.json");
      });
    }
  }
}

TEST_CASE("a wrong field is named") {
  const Change changes[] = {
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
  for (const Change& change : changes) expect_refused(example(), change);
}

TEST_CASE("a wrong field of a text is named") {
  const Change changes[] = {
      {"\"symbols\":\"0a206162\"", "\"symbols\":\"\"", "\"symbols\""},
      {"0a206162", "0a20616", "\"symbols\""},
      {"0a206162", "0a20616g", "\"symbols\""},
      {"0a206162", "0a612062", "\"symbols\": expected bytes"},
      {"0a206162", "0a206161", "\"symbols\": expected bytes"},
      {"0a206162", "00206162", "\"symbols\": expected bytes"},
      {"0a206162", "0a2061", "\"class_counts\""},
      {"\"tokens\":1048576", "\"tokens\":1048577", "\"tokens\""},
      {"\"tokens\":3", "\"tokens\":0", "\"tokens\""},
      {"\"tokens\":3", "\"samples\":3", "\"tokens\""},
      // The kind decides which fields there must be.
      {"\"kind\":\"text\"", "\"kind\":\"idx\"", "\"height\""},
      {"\"kind\":\"text\"", "\"kind\":[]", "\"kind\""},
  };
  for (const Change& change : changes) expect_refused(text_example(), change);
  expect_refused(example(),
                 {"\"kind\":\"idx\"", "\"kind\":\"text\"", "\"symbols\""});
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

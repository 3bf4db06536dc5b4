#include "server/datasets/text_shards.h"

#include <algorithm>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include "tests/server/datasets/files.h"
#include "workunits/objects/token_shard.h"

namespace quorate {
namespace {

Bytes bytes_of_text(std::string_view text) {
  return {as_bytes(text).begin(), as_bytes(text).end()};
}

DatasetSource source_of(std::string_view train, std::string_view test = "") {
  DatasetSource source;
  source.kind = kTextKind;
  source.train.text = bytes_of_text(train);
  source.test.text = bytes_of_text(test);
  return source;
}

class Project {
  TemporaryFolder folder_;

 public:
  ObjectStore objects{folder_ / "objects", folder_ / "tmp"};

  DatasetManifest build(const DatasetSource& source,
                        std::optional<std::uint32_t> hold_out = {}) {
    return build_dataset(source, {"n", 3, hold_out}, objects);
  }

  // The text that the tokens of `shards` stand for.
  std::string text(const std::vector<ShardEntry>& shards,
                   const DatasetManifest& manifest) {
    std::string text;
    for (const ShardEntry& entry : shards) {
      Bytes bytes = objects.read(entry.hash);
      ByteView tokens = read_token_shard(bytes, manifest.classes, "shard");
      CHECK(tokens.size() == entry.samples);
      for (std::uint8_t token : tokens) {
        text += static_cast<char>(manifest.symbols[token]);
      }
    }
    return text;
  }
};

// n bytes of a text in which no two shards are alike.
std::string long_text(std::size_t n) {
  std::string text;
  for (std::size_t i = 0; i < n; ++i) {
    text += static_cast<char>('a' + (i + i / kShardTokens + i % 7) % 20);
  }
  return text;
}

std::string refusal(const DatasetSource& source,
                    std::optional<std::uint32_t> hold_out = {}) {
  Project project;
  return error_of(ErrorKind::usage,
                  [&] { (void)project.build(source, hold_out); });
}

TEST_CASE("tokens are the places of bytes among those that occur") {
  Project project;
  DatasetManifest manifest = project.build(source_of("abba\nab", "c\n"));
  CHECK(manifest.kind == "text");
  CHECK(manifest.symbols == bytes_of_text("\nabc"));
  CHECK(manifest.classes == 4);
  CHECK(manifest.class_counts == std::vector<std::uint64_t>{1, 3, 3, 0});
  CHECK(manifest.has_own_test);
  CHECK(manifest.shape.size() == 0);
  Bytes shard = project.objects.read(manifest.train.at(0).hash);
  CHECK(to_hex(read_token_shard(shard, 4, "shard")) == "01020201000102");
  CHECK(project.text(manifest.test, manifest) == "c\n");
}

TEST_CASE("every byte of a text comes back, in order, over several shards") {
  Project project;
  std::string text = long_text(2 * kShardTokens + 100);
  std::vector<std::pair<std::uint64_t, std::uint64_t>> progress;
  DatasetSource source = source_of(text, "abc");
  DatasetManifest manifest =
      build_dataset(source, {"n"}, project.objects,
                    [&](std::uint64_t done, std::uint64_t all) {
                      progress.emplace_back(done, all);
                    });
  REQUIRE(manifest.train.size() == 3);
  CHECK(manifest.train[0].samples == kShardTokens);
  CHECK(manifest.train[1].samples == kShardTokens);
  CHECK(manifest.train[2].samples == 100);
  CHECK(manifest.train[0].hash != manifest.train[1].hash);
  CHECK(project.text(manifest.train, manifest) == text);
  CHECK(project.text(manifest.test, manifest) == "abc");
  CHECK(progress.size() == 4);
  CHECK(progress.back().first == text.size() + 3);
  CHECK(progress.back().second == text.size() + 3);
}

TEST_CASE("without a test part the end of the text is held out") {
  Project project;
  DatasetManifest manifest = project.build(source_of("0123456789abcdefghijk"));
  CHECK(!manifest.has_own_test);
  CHECK(project.text(manifest.train, manifest) == "0123456789abcdefgh");
  CHECK(project.text(manifest.test, manifest) == "ijk");
  // Symbols that only the test part has are none of the training part.
  CHECK(manifest.classes == 21);
  CHECK(manifest.class_counts.back() == 0);

  manifest = project.build(source_of("0123456789"), 70);
  CHECK(project.text(manifest.train, manifest) == "012");
  CHECK(project.text(manifest.test, manifest) == "3456789");
  CHECK(contains(refusal(source_of("0123456789"), 91), "expected 1 to 90"));
  CHECK(contains(refusal(source_of("0123456789", "abc"), 10),
                 "the data already have a test part, of 3 tokens"));
}

TEST_CASE("no character is cut") {
  // 1 + 4 bytes: the cut may lie before or after the second character.
  std::string text = "a\U0001f9ee";
  for (std::uint32_t hold_out = 1; hold_out <= 90; ++hold_out) {
    CHECK(end_of_training(as_bytes(text), hold_out) <= 1);
  }
  CHECK(end_of_training(as_bytes(text), 80) == 1);
  CHECK(end_of_training(as_bytes(text), 81) == 0);
  CHECK(end_of_training(as_bytes("\u20ac\u20ac"), 50) == 3);
  CHECK(end_of_training({}, 10) == 0);
}

TEST_CASE("the usual split of a text is at nine tenths, rounded down") {
  Bytes text(1115394, 'x');
  CHECK(end_of_training(text, 10) == 1003854);
}

TEST_CASE("a text too short to learn from is refused") {
  CHECK(contains(refusal(source_of("ab")),
                 "the training part has 1 bytes of text"));
  CHECK(contains(refusal(source_of("\U0001f9ee")), "has 0 bytes"));
  CHECK(contains(refusal(source_of("a", "abc")), "has 1 bytes"));
}

TEST_CASE("the seed of the shuffle changes nothing") {
  Project project;
  DatasetSource source = source_of("to be or not to be");
  CHECK(build_dataset(source, {"n", 1}, project.objects) ==
        build_dataset(source, {"n", 2}, project.objects));
}

}  // namespace
}  // namespace quorate

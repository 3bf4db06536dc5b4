#include "workunits/task.h"

#include <functional>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "base/error.h"
#include "tests/support/samples.h"

namespace quorate {
namespace {

using test::sample_task;

// The kind of error that reading gives, after `change`.
ErrorKind refusal(const std::function<void(TrainingTask&)>& change) {
  TrainingTask task = sample_task();
  change(task);
  try {
    decode_task(encode(task));
  } catch (const Error& error) {
    return error.kind();
  }
  FAIL("accepted " << as_text(encode(task)));
  return ErrorKind::io;
}

// The same for the sample's text with `from` replaced by `to`.
bool is_refused(std::string_view from, std::string_view to) {
  Bytes bytes = encode(sample_task());
  std::string text(as_text(bytes));
  std::size_t at = text.find(from);
  REQUIRE(at != std::string::npos);
  text.replace(at, from.size(), to);
  try {
    decode_task(as_bytes(text));
    return false;
  } catch (const Error& error) {
    return error.kind() == ErrorKind::corrupt;
  }
}

}  // namespace

TEST_CASE("a task comes back as it was") {
  TrainingTask task = sample_task();
  CHECK(decode_task(encode(task)) == task);
  task.range.micro_batch = 1;
  CHECK(decode_task(encode(task)) == task);
}

TEST_CASE("digests are at most eight and the last is at the end") {
  for (std::uint32_t steps : {1U, 7U, 8U, 9U, 16U, 17U, 20U, 1U << 20}) {
    CAPTURE(steps);
    TrainingTask task = sample_task();
    task.range.steps = steps;
    task.digest_every = digest_interval(steps);
    CHECK(task.digest_every == (steps + 7) / 8);
    CHECK(digest_count(task) <= 8);
    CHECK((digest_count(task) - 1) * task.digest_every < steps);
    CHECK(digest_count(task) * task.digest_every >= steps);
  }
}

TEST_CASE("a unit's seed follows from run and index") {
  RunId run = test::filled<RunId>(0x11);
  CHECK(unit_seed(run, 5) == unit_seed(run, 5));
  CHECK(unit_seed(run, 5) != unit_seed(run, 6));
  CHECK(unit_seed(run, 5) != unit_seed(test::filled<RunId>(0x12), 5));
  // SHA-256 of the text, a zero byte, 16 times 11, 05 and seven zero bytes,
  // computed with another program
  CHECK(unit_seed(run, 5) == 0x094e35789c15c0ab);
}

TEST_CASE("a task names the codec of its update") {
  for (std::string_view name : codec_names()) {
    TrainingTask task = sample_task();
    task.codec = codec_called(name).value();
    const Bytes bytes = encode(task);
    CHECK(as_text(bytes).find(fmt::format("\"codec\":\"{}\"", name)) !=
          std::string::npos);
    CHECK(decode_task(bytes) == task);
  }
  CHECK(is_refused("\"fp32\"", "\"int9\""));
  CHECK(is_refused("\"fp32\"", "0"));
}

TEST_CASE("what no project would seal is refused") {
  auto corrupt = ErrorKind::corrupt;
  CHECK(refusal([](auto& t) { t.range.batch = 0; }) == corrupt);
  CHECK(refusal([](auto& t) { t.range.batch = 65537; }) == corrupt);
  CHECK(refusal([](auto& t) { t.range.micro_batch = t.range.batch; }) ==
        corrupt);
  CHECK(refusal([](auto& t) { t.range.steps = 0; }) == corrupt);
  CHECK(refusal([](auto& t) { t.range.steps = (1U << 20) + 1; }) == corrupt);
  CHECK(refusal([](auto& t) { t.range.shard_samples = 0; }) == corrupt);
  CHECK(refusal([](auto& t) { t.range.shard_samples = (1U << 24) + 1; }) ==
        corrupt);
  CHECK(refusal([](auto& t) { t.digest_every = 2; }) == corrupt);
  CHECK(refusal([](auto& t) { t.inverse_batch = 0.25F; }) == corrupt);
  CHECK(refusal([](auto& t) { ++t.unit_seed; }) == corrupt);
  CHECK(refusal([](auto& t) { t.optimizer.learning_rate = -1.0F; }) == corrupt);
  CHECK(refusal([](auto& t) { t.optimizer.momentum = 0.0F / 0.0F; }) ==
        corrupt);
  CHECK(refusal([](auto& t) { t.model.widths = {1}; }) == corrupt);
  auto of_one_value = [](std::uint32_t batch) {
    return [batch](TrainingTask& t) {
      t.model = parse_model("resnet:1x8,norm=batch", {1, 1, 1}, 2);
      t.range.batch = batch;
      t.inverse_batch = inverse_batch(t.model, batch);
    };
  };
  CHECK(refusal(of_one_value(1)) == corrupt);
  TrainingTask of_two = sample_task();
  of_one_value(2)(of_two);
  CHECK_NOTHROW(decode_task(encode(of_two)));
  of_two.range.micro_batch = 1;
  CHECK_THROWS_AS(decode_task(encode(of_two)), Error);
  CHECK(refusal([](auto& t) { t.base_version = 1ULL << 60; }) == corrupt);
  CHECK(refusal([](auto& t) { t.arithmetic = 2; }) == ErrorKind::unsupported);
}

TEST_CASE("the range ends within its shard") {
  CHECK(refusal([](auto& t) { t.range.first = 93; }) == ErrorKind::corrupt);
  TrainingTask task = sample_task();
  task.range.first = 92;
  CHECK_NOTHROW(decode_task(encode(task)));
}

TEST_CASE("one task has one text") {
  CHECK(is_refused("\"batch\":2", "\"batch\": 2"));
  CHECK(is_refused("{\"arith", "{\"a\":1,\"arith"));
  CHECK(is_refused("2222", "222A"));
  CHECK(is_refused("\"shard\":\"3333", "\"shard\":\"AAAA"));
  CHECK(is_refused("\"batch\":2,", "\"batch\":2,\"batch\":2,"));
  CHECK(is_refused("task v1", "task v2"));
  CHECK(is_refused("\"batch\":2", "\"batch\":\"2\""));
  CHECK(is_refused("}", "} "));
}

TEST_CASE("a text longer than any task is not looked at") {
  std::string text(70000, ' ');
  CHECK_THROWS_WITH_AS(decode_task(as_bytes(text)),
                       "task: 70000 bytes of JSON, allowed are 65536", Error);
}

}  // namespace quorate

#include <doctest/doctest.h>

#include "base/error.h"
#include "protocol/native/messages.h"
#include "tests/protocol/samples.h"

namespace quorate::protocol {
namespace {

std::string error_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const Error& error) {
    CHECK(error.kind() == ErrorKind::corrupt);
    return error.what();
  }
  return "no error";
}

}  // namespace

TEST_CASE("every native message survives reading and writing") {
  for (const Sample& sample : native_samples()) {
    CAPTURE(sample.name);
    CHECK(sample.rewrite(sample.bytes) == sample.bytes);
  }
}

TEST_CASE("work request and reply have the bytes that the document shows") {
  std::vector<Sample> samples = native_samples();
  CHECK(write(sample_work_request()) == samples[8].bytes);
  CHECK(write(sample_work_reply()) == samples[9].bytes);
}

TEST_CASE("a work request is read field by field") {
  WorkRequest request =
      parse_work_request(as_bytes(write(sample_work_request())));
  CHECK(request.want == 2);
  CHECK(request.wait == Seconds(12.5));
  CHECK(request.device == "cpu:avx512");
  CHECK(request.speed_flops == 1.5e10);
  REQUIRE(request.holding.size() == 1);
  CHECK(request.holding[0].result == 7);
  CHECK(request.holding[0].step == 3);
  CHECK(request.holding[0].steps == 20);
  REQUIRE(request.failed.size() == 1);
  CHECK(request.failed[0].result == 8);
  CHECK(request.failed[0].why == "disk");
  CHECK(request.shards ==
        std::vector<Hash>{filled<Hash>(0x55), filled<Hash>(0x66)});
}

TEST_CASE("unknown and left-out members do no harm") {
  WorkRequest request = parse_work_request(as_bytes(
      R"({"device":"cpu","colour":{"deep":[1]},"want":1,"wait":null})"));
  CHECK(request.want == 1);
  CHECK(request.wait == Seconds(0));
  CHECK(request.holding.empty());
}

TEST_CASE("errors name message, field, expectation and finding") {
  auto refused = [](const std::string& text) {
    return error_of([&] { parse_work_request(as_bytes(text)); });
  };
  CHECK(refused(R"({"want":"x","device":"cpu"})") ==
        R"(work request: "want": expected an integer from 0 to 64, found "x")");
  CHECK(refused(R"({"want":65,"device":"cpu"})") ==
        R"(work request: "want": expected an integer from 0 to 64, found 65)");
  CHECK(refused(R"({"want":-1,"device":"cpu"})") ==
        R"(work request: "want": expected an integer from 0 to 64, found -1)");
  CHECK(refused(R"({"want":1})") == R"(work request: "device" is missing)");
  CHECK(refused(R"({"want":1,"device":"cpu","wait":26})") ==
        R"(work request: "wait": expected a number from 0 to 25, found 26)");
  CHECK(refused(R"({"want":1,"device":"cpu","holding":[{"result":1.5}]})") ==
        R"(work request: "holding[0].result": expected an integer from 0 to )"
        R"(9223372036854775807, found 1.5)");
  CHECK(
      refused(R"({"want":1,"device":"a\nb"})") ==
      R"(work request: "device": expected a text without control or invisible )"
      R"(characters, found "a?b")");
  CHECK(refused("[]") == "work request: expected an object, found a list of 0");
  CHECK(refused("") == "work request: not JSON at byte 1");
}

TEST_CASE("a host names so many shards and no more, each by its hash") {
  auto naming = [](std::size_t count, const std::string& hash) {
    std::string text = R"({"want":1,"device":"cpu","shards":[)";
    for (std::size_t i = 0; i < count; ++i) {
      text += (i == 0 ? "\"" : ",\"") + hash + "\"";
    }
    return text + "]}";
  };
  CHECK(parse_work_request(as_bytes(naming(256, hex32("55")))).shards.size() ==
        256);
  for (const std::string& text :
       {naming(257, hex32("55")), naming(1, "55"), naming(1, hex32("5g"))}) {
    const std::string error =
        error_of([&] { parse_work_request(as_bytes(text)); });
    CHECK(error.starts_with(R"(work request: "shards)"));
  }
}

TEST_CASE("an assignment with an unknown kind of object is refused") {
  std::string text = write(sample_work_reply());
  text.replace(text.find("snapshot"), 8, "spaceship");
  CHECK(error_of([&] { parse_work_reply(as_bytes(text)); }) ==
        R"(work reply: "assignments[0].objects[1].kind": expected a kind of )"
        R"(object, for example "snapshot", found "spaceship")");
}

TEST_CASE("results count from 1: an agent takes 0 for none") {
  WorkReply reply = sample_work_reply();
  reply.assignments[0].result = 0;
  CHECK(error_of([&] {
          parse_work_reply(as_bytes(write(reply)));
        }).starts_with(R"(work reply: "assignments[0].result": )"));
}

TEST_CASE("only a project whose runs are over says that it is finished") {
  WorkReply work = sample_work_reply();
  CHECK(write(work).find("finished") == std::string::npos);
  CHECK_FALSE(parse_work_reply(as_bytes(write(work))).is_finished);
  work.is_finished = true;
  CHECK(parse_work_reply(as_bytes(write(work))).is_finished);
}

TEST_CASE("a host says if its name was chosen, as older ones never do") {
  HostRequest host;
  host.name = "lab";
  CHECK(write(host).find("name_chosen") == std::string::npos);
  CHECK_FALSE(parse_host_request(as_bytes(write(host))).is_name_chosen);
  HostRequest chosen = host;
  chosen.is_name_chosen = true;
  CHECK(parse_host_request(as_bytes(write(chosen))).is_name_chosen);
  // An older server checks the same bytes.
  CHECK(host_message({}, host) == host_message({}, chosen));
}

TEST_CASE("lists are bounded") {
  WorkRequest request = sample_work_request();
  request.holding.resize(256);
  CHECK(parse_work_request(as_bytes(write(request))).holding.size() == 256);
  request.holding.resize(257);
  CHECK_THROWS_AS(parse_work_request(as_bytes(write(request))), Error);

  WorkReply reply = sample_work_reply();
  reply.assignments.resize(65, reply.assignments[0]);
  CHECK_THROWS_AS(parse_work_reply(as_bytes(write(reply))), Error);
  reply.assignments.resize(1);
  reply.assignments[0].objects.resize(9);
  CHECK_THROWS_AS(parse_work_reply(as_bytes(write(reply))), Error);
}

TEST_CASE("what people wrote is made plain before it is sent") {
  WorkRequest request = sample_work_request();
  request.failed[0].why = "line one\nline two \xff" + std::string(2000, 'x');
  WorkRequest read = parse_work_request(as_bytes(write(request)));
  CHECK(read.failed[0].why.starts_with("line one?line two ?x"));
  CHECK(read.failed[0].why.size() == 1024);
}

TEST_CASE("a session request without signature asks for a challenge") {
  SessionRequest first = parse_session_request(
      as_bytes(write(SessionRequest{filled<PublicKey>(2), {}, {}, false})));
  CHECK_FALSE(first.is_signed);
  CHECK(first.challenge.empty());
  CHECK(error_of([] {
          parse_session_request(as_bytes(R"({"host":")" + hex32("02") +
                                         R"(","signature":")" + hex64("03") +
                                         R"("})"));
        }) == R"(session request: "challenge" is missing)");
}

}  // namespace quorate::protocol

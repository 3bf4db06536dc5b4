#include "protocol/json_reader.h"

#include <doctest/doctest.h>

#include "base/error.h"
#include "base/json_fields.h"

namespace quorate::protocol {
namespace {

// What reading `text` complains about, after the message's name; "" if nothing.
std::string complaint(const std::string& text) {
  try {
    JsonDocument document(as_bytes(text), "m");
  } catch (const Error& error) {
    CHECK(error.kind() == ErrorKind::corrupt);
    return error.what();
  }
  return "";
}

std::string nested(std::size_t levels) {
  return R"({"a":)" + std::string(levels - 1, '[') +
         std::string(levels - 1, ']') + "}";
}

}  // namespace

TEST_CASE("nesting is bounded, however deep it is") {
  CHECK(complaint(nested(kMaxNesting)).empty());
  CHECK(complaint(nested(kMaxNesting + 1)) == "m: JSON nested deeper than 16");
  CHECK(complaint(nested(kMaxMessageBytes / 2 - 8)) ==
        "m: JSON nested deeper than 16");
  CHECK(complaint(std::string(200'000, '[')) ==
        "m: JSON nested deeper than 16");
}

// In a time that grows with the square of its length, this takes minutes.
TEST_CASE("a message of many values is read in one pass") {
  std::string array = R"({"a":[{})";
  std::string object = R"({"0":{})";
  for (int i = 1; array.size() < 4 << 20; ++i) {
    array += ",{}";
    object += ",\"" + std::to_string(i) + "\":{}";
  }
  const JsonLimits limits{64 << 20, kMaxNesting};
  const auto values = [&](const std::string& text) {
    return parse_json(text, limits, "m");
  };
  CHECK(values(array + "]}").at("a").size() == (4 << 20) / 3 - 1);
  CHECK(values(object + "}").size() == (4 << 20) / 3 - 1);
}

TEST_CASE("an answer is built as it was written") {
  const std::string text =
      R"({"a":[1,-2,0.5,"x",true,null,[],{}],"b":{"c":[{"d":[]}]}})";
  CHECK(dump_json(parse_json(text, {1000, 5}, "m")) == text);
  CHECK(dump_json(parse_json("[[[]],[7]]", {1000, 3}, "m")) == "[[[]],[7]]");
  CHECK(dump_json(parse_json("\"x\"", {1000, 0}, "m")) == "\"x\"");
}

TEST_CASE("brackets within texts do not count as nesting") {
  CHECK(complaint(R"({"a":"[[[[[[[[[[[[[[[[[[[[[[[[[\"[[[[[["})").empty());
}

TEST_CASE("a message over 256 KiB is refused before it is parsed") {
  std::string text = R"({"a":")" + std::string(kMaxMessageBytes, 'x') + "\"}";
  CHECK(complaint(text) == "m: 262152 bytes of JSON, allowed are 262144");
}

TEST_CASE("what is no JSON is refused with its place") {
  CHECK(complaint("{\"a\":1").starts_with("m: not JSON at byte 7"));
  CHECK(complaint("{\"a\":1e999}") == "m: JSON holds a number out of range");
  CHECK(complaint("{\"a\":\"\xff\"}").starts_with("m: not JSON at byte"));
  CHECK(complaint("{} {}").starts_with("m: not JSON at byte"));
  CHECK(complaint(R"({"a":1,"a":2})") == R"(m: field "a" twice)");
  CHECK(complaint("7") == "m: expected an object, found 7");
}

TEST_CASE("numbers are taken only when they are what the field wants") {
  std::string text =
      R"({"i":3,"f":3.0,"n":-3,"big":18446744073709551616,"b":true})";
  JsonDocument document(as_bytes(text), "m");
  JsonValue root = document.root();
  CHECK(root.at("i").integer(3) == 3);
  CHECK(root.at("i").number(3) == 3);
  CHECK(root.at("b").boolean());
  CHECK_THROWS_AS(root.at("i").integer(2), Error);
  CHECK_THROWS_AS(root.at("f").integer(9), Error);
  CHECK_THROWS_AS(root.at("n").integer(9), Error);
  CHECK_THROWS_AS(root.at("n").number(9), Error);
  CHECK_THROWS_AS(root.at("big").integer(UINT64_MAX), Error);
  CHECK_THROWS_AS(root.at("i").boolean(), Error);
  CHECK_THROWS_AS(root.at("i").at("x"), Error);
}

TEST_CASE("texts are bounded and plain") {
  std::string text = R"({"t":"four","nul":"a\u0000b","c1":"\u0085"})";
  JsonDocument document(as_bytes(text), "m");
  JsonValue root = document.root();
  CHECK(root.at("t").text(4) == "four");
  CHECK_THROWS_WITH_AS(
      root.at("t").text(3),
      R"(m: "t": expected a text of at most 3 bytes, found "four")", Error);
  CHECK_THROWS_AS(root.at("nul").text(9), Error);
  CHECK_THROWS_AS(root.at("c1").text(9), Error);
}

TEST_CASE("hexadecimal values have their length") {
  std::string good(64, 'a');
  std::string text = R"({"h":")" + good + R"(","short":"aa","bad":")" +
                     std::string(64, 'g') + R"("})";
  JsonDocument document(as_bytes(text), "m");
  JsonValue root = document.root();
  CHECK(root.at("h").hex<Hash>().hex() == good);
  CHECK_THROWS_WITH_AS(
      root.at("short").hex<Hash>(),
      R"(m: "short": expected 64 hexadecimal digits, found "aa")", Error);
  CHECK_THROWS_AS(root.at("bad").hex<Hash>(), Error);
}

}  // namespace quorate::protocol

#include "base/json_fields.h"

#include <limits>

#include <doctest/doctest.h>

#include "base/arithmetic.h"
#include "base/error.h"

namespace quorate {
namespace {

constexpr JsonLimits kLimits{1 << 20, 3};

// True if parse_json refuses `text` as corrupt.
bool is_refused(std::string_view text, const JsonLimits& limits = kLimits) {
  try {
    parse_json(text, limits, "test");
    return false;
  } catch (const Error& error) {
    return error.kind() == ErrorKind::corrupt;
  }
}

}  // namespace

TEST_CASE("nesting is bounded before it is built") {
  CHECK_FALSE(is_refused("[[[]]]"));
  CHECK(is_refused("[[[[]]]]"));
  CHECK(is_refused(R"({"a":{"b":{"c":{}}}})"));
  CHECK(is_refused(std::string(1 << 20, '[')));
  std::string objects;
  while (objects.size() < 500000) objects += R"({"a":)";
  CHECK(is_refused(objects));
}

TEST_CASE("what is no single JSON value is refused") {
  for (std::string_view text :
       {"", "{", "[1,]", "1 2", "nul", "'a'", "\"\xff\"", "[1e999]", "{1:2}"}) {
    CAPTURE(text);
    CHECK(is_refused(text));
  }
  CHECK(is_refused("[1, 2]", {5, 3}));
}

TEST_CASE("a key given twice is refused, in any object") {
  CHECK(is_refused(R"({"a":1,"a":2})"));
  CHECK(is_refused(R"({"b":{"a":1,"\u0061":2}})"));
  CHECK_FALSE(is_refused(R"({"a":{"a":1},"b":{"a":1}})"));
}

TEST_CASE("fields are read by type and within bounds") {
  auto json = parse_json(
      R"({"n":7,"big":18446744073709551615,"neg":-1,"f":1.5,"t":"text",
          "a":[1]})",
      kLimits, "note");
  JsonFields fields(json, "note");
  CHECK(fields.integer("n") == 7);
  CHECK(fields.text("t", 4) == "text");
  CHECK(fields.number("f") == 1.5);
  CHECK(fields.number("n") == 7);
  CHECK(fields.array("a").size() == 1);
  CHECK_THROWS_AS(fields.number("neg"), Error);
  CHECK_THROWS_AS(fields.number("t"), Error);
  CHECK_THROWS_AS(fields.array("t"), Error);
  CHECK_THROWS_WITH_AS(fields.integer("n", 0, 6),
                       "note: field \"n\": expected 0 to 6, found 7", Error);
  CHECK_THROWS_AS(fields.integer("n", 8), Error);
  CHECK_THROWS_AS(fields.integer("big"), Error);
  CHECK_THROWS_AS(fields.integer("neg"), Error);
  CHECK_THROWS_AS(fields.integer("f"), Error);
  CHECK_THROWS_AS(fields.integer("t"), Error);
  CHECK_THROWS_AS(fields.text("t", 3), Error);
  CHECK_THROWS_AS(fields.text("n", 3), Error);
  CHECK_THROWS_WITH_AS(fields.integer("none"),
                       "note: field \"none\" is missing", Error);
  auto list = parse_json("[]", kLimits, "note");
  CHECK_THROWS_AS(JsonFields(list, "note"), Error);
}

TEST_CASE("floats and seeds keep every bit") {
  for (float value :
       {0.0F, -0.0F, 0.1F, 1e-45F, std::numeric_limits<float>::infinity()}) {
    CHECK(bits(parse_float_hex(hex_of_float(value), "test")) == bits(value));
  }
  CHECK(hex_of_float(1.0F) == "3f800000");
  CHECK(hex_of_seed(0x1f) == "000000000000001f");
  auto json = parse_json(R"({"s":"fedcba9876543210"})", kLimits, "test");
  CHECK(JsonFields(json, "test").seed_of_hex("s") == 0xfedcba9876543210);
}

TEST_CASE("bytes that are no text are replaced on writing") {
  CHECK(dump_json("a\xff") == "\"a\xef\xbf\xbd\"");
}

}  // namespace quorate

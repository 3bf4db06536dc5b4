#include "base/bytes.h"

#include <array>

#include <doctest/doctest.h>

#include "base/error.h"

namespace quorate {

TEST_CASE("integers are little-endian and come back") {
  ByteWriter writer;
  writer.put(std::uint8_t{0x01});
  writer.put(std::uint16_t{0x0203});
  writer.put(std::uint32_t{0x04050607});
  writer.put(std::uint64_t{0x08090a0b0c0d0e0f});
  writer.put_text("hi");
  Bytes bytes = writer.take();
  CHECK(to_hex(bytes) == "010302070605040f0e0d0c0b0a0908020000006869");

  ByteReader reader(bytes, "test");
  CHECK(reader.get<std::uint8_t>() == 0x01);
  CHECK(reader.get<std::uint16_t>() == 0x0203);
  CHECK(reader.get<std::uint32_t>() == 0x04050607);
  CHECK(reader.get<std::uint64_t>() == 0x08090a0b0c0d0e0f);
  CHECK(reader.get_text(2) == "hi");
  CHECK_NOTHROW(reader.expect_end());
}

TEST_CASE("no read goes beyond the end") {
  Bytes bytes{1, 2, 3};
  CHECK_THROWS_WITH_AS(
      ByteReader(bytes, "note").get<std::uint32_t>(),
      "note: ends too early: expected 4 more bytes at byte 0, found 3", Error);
  CHECK_THROWS_AS(ByteReader(bytes, "note").take(4), Error);
  CHECK_THROWS_AS(ByteReader(bytes, "note").take(SIZE_MAX), Error);
  std::array<std::uint8_t, 4> out{};
  CHECK_THROWS_AS(ByteReader(bytes, "note").get_bytes(out), Error);
  CHECK_THROWS_AS(ByteReader(bytes, "note").expect_end(), Error);
  // a failed read takes nothing
  ByteReader reader(bytes, "note");
  CHECK_THROWS_AS(reader.get<std::uint64_t>(), Error);
  CHECK(reader.left() == 3);
}

TEST_CASE("a text is bounded by the caller and by the bytes") {
  ByteWriter writer;
  writer.put_text("four");
  Bytes bytes = writer.take();
  CHECK_THROWS_AS(ByteReader(bytes, "note").get_text(3), Error);
  bytes.pop_back();
  CHECK_THROWS_AS(ByteReader(bytes, "note").get_text(100), Error);
  // a length of 4 GiB must not be believed
  Bytes huge{0xff, 0xff, 0xff, 0xff, 'a'};
  CHECK_THROWS_AS(ByteReader(huge, "note").get_text(SIZE_MAX), Error);
}

TEST_CASE("hexadecimal text is exact") {
  std::array<std::uint8_t, 2> out{};
  from_hex("0aFf", out, "value");
  CHECK(out == std::array<std::uint8_t, 2>{0x0a, 0xff});
  for (const char* bad :
       {"", "0a", "0aff0", "0aff00", "0xff", "0ag0", "0a f"}) {
    CAPTURE(bad);
    CHECK_THROWS_AS(from_hex(bad, out, "value"), Error);
  }
}

}  // namespace quorate

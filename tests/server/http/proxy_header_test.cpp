// The PROXY protocol's header: golden bytes, and what is none.
#include "server/http/clients/proxy_header.h"

#include <algorithm>

#include <doctest/doctest.h>

#include "base/error.h"

using namespace quorate;
using namespace std::string_literals;

namespace {

const std::string kSignature = "\r\n\r\n\0\r\nQUIT\n"s;

struct Read {
  std::string client;  // "-" if it says none
  std::size_t used = 0;
};

// As a connection does, at most `step` bytes at a time.
Read read_header(const std::string& bytes, std::size_t step) {
  ProxyHeader header;
  Read read;
  while (header.wanted() > 0) {
    const std::size_t size =
        std::min({header.wanted(), step, bytes.size() - read.used});
    REQUIRE(size > 0);
    header.take(as_bytes(std::string_view(bytes).substr(read.used, size)));
    read.used += size;
  }
  read.client = header.client() ? text_of(*header.client()) : "-";
  return read;
}

void check_reads(const std::string& bytes, const char* client) {
  CAPTURE(bytes);
  for (const std::size_t step : {1U, 2U, 7U, 10'000U}) {
    // Not one byte of what follows is taken.
    const Read read = read_header(bytes + "\r\n\r\nGET / HTTP/1.1", step);
    CHECK(read.client == client);
    CHECK(read.used == bytes.size());
  }
}

// Refused with its `at`-th byte, and not before.
void check_refused(const std::string& bytes, std::size_t at) {
  CAPTURE(bytes);
  ProxyHeader header;
  for (std::size_t i = 0; i + 1 < at; ++i) {
    REQUIRE(header.wanted() > 0);
    header.take(as_bytes(std::string_view(bytes).substr(i, 1)));
  }
  REQUIRE(header.wanted() > 0);
  try {
    header.take(as_bytes(std::string_view(bytes).substr(at - 1, 1)));
    FAIL_CHECK("it was taken");
  } catch (const Error& error) {
    CHECK(error.kind() == ErrorKind::corrupt);
  }
}

void check_refused(const std::string& bytes) {
  check_refused(bytes, bytes.size());
}

std::string binary(unsigned char command, unsigned char family,
                   const std::string& rest) {
  std::string out = kSignature;
  out += static_cast<char>(command);
  out += static_cast<char>(family);
  out += static_cast<char>(rest.size() >> 8);
  out += static_cast<char>(rest.size() & 255);
  return out + rest;
}

const std::string kV4 = "\xc0\x00\x02\x01\xc0\x00\x02\x09\xdc\x04\x01\xbb"s;
const std::string kV6 =
    "\x20\x01\x0d\xb8\0\0\0\0\0\0\0\0\0\0\0\x01"
    "\x20\x01\x0d\xb8\0\0\0\0\0\0\0\0\0\0\0\x02\xdc\x04\x01\xbb"s;

}  // namespace

TEST_CASE("version 1 is a line") {
  check_reads("PROXY TCP4 192.0.2.1 192.0.2.9 56324 443\r\n", "192.0.2.1");
  check_reads("PROXY TCP4 1.1.1.1 2.2.2.2 0 1\r\n", "1.1.1.1");
  check_reads("PROXY TCP6 2001:db8::1 2001:db8::2 65535 0\r\n", "2001:db8::1");
  check_reads("PROXY TCP6 ::ffff:192.0.2.1 ::1 1 1\r\n", "192.0.2.1");
  check_reads("PROXY UNKNOWN\r\n", "-");
  // The longest that its specification has.
  const std::string all = "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff";
  const std::string longest =
      "PROXY UNKNOWN " + all + " " + all + " 65535 65535\r\n";
  CHECK(longest.size() == ProxyHeader::kMostLine);
  check_reads(longest, "-");
}

TEST_CASE("lines that are no header are refused") {
  for (const char* line :
       {"PROXY TCP4 192.0.2.1 192.0.2.9 56324\r\n",
        "PROXY TCP4 192.0.2.1 192.0.2.9 56324 443 1\r\n",
        "PROXY TCP4  192.0.2.1 192.0.2.9 56324 443\r\n",
        "PROXY TCP4 192.0.2.1 192.0.2.9 65536 443\r\n",
        "PROXY TCP4 192.0.2.1 192.0.2.9 056 443\r\n",
        "PROXY TCP4 192.0.2.1 192.0.2.9 -1 443\r\n",
        "PROXY TCP4 192.0.2.1 192.0.2.9 1 \r\n",
        "PROXY TCP4 192.0.2.1 x 1 2\r\n", "PROXY TCP4 ::1 ::1 1 2\r\n",
        "PROXY TCP6 192.0.2.1 ::1 1 2\r\n",
        "PROXY TCP5 1.1.1.1 2.2.2.2 1 2\r\n",
        "PROXY UDP4 1.1.1.1 2.2.2.2 1 2\r\n", "PROXY TCP4xxxxx\r\n",
        "PROXY          \r\n", "PROXY UNKNOWNx\r\n",
        "PROXY TCP4 1.1.1.1 2.2.2.2 1 2\rx"}) {
    check_refused(line);
  }
  check_refused("PROXY TCP4 1.1.1.1\0 2.2.2.2 1 2\r\n"s);
  // By the first byte that no header has.
  check_refused("GET / HTTP/1.1\r\n", 1);
  check_refused("POST / HTTP/1.1\r\n", 2);
  check_refused("PROXY\r\nGET / HTTP/1.1\r\n", 6);
  check_refused("\x16\x03\x01", 1);  // TLS
}

TEST_CASE("a line without an end is not waited for") {
  const std::string line = "PROXY UNKNOWN " + std::string(1000, 'x');
  ProxyHeader header;
  std::size_t used = 0;
  CHECK_THROWS_AS(
      [&] {
        while (true) {
          const std::size_t size = header.wanted();
          REQUIRE(used + size <= ProxyHeader::kMostLine);
          header.take(as_bytes(std::string_view(line).substr(used, size)));
          used += size;
        }
      }(),
      Error);
}

TEST_CASE("version 2 is binary") {
  check_reads(binary(0x21, 0x11, kV4), "192.0.2.1");
  check_reads(binary(0x21, 0x21, kV6), "2001:db8::1");
  // More follows: what a proxy knows of TLS, for example.
  check_reads(binary(0x21, 0x11, kV4 + "\x04\x00\x01x"s), "192.0.2.1");
  check_reads(binary(0x21, 0x11, kV4 + std::string(2036, 'x')), "192.0.2.1");
  // The proxy speaks for itself, whatever it adds; or does not know.
  check_reads(binary(0x20, 0x00, ""), "-");
  check_reads(binary(0x20, 0x11, kV4), "-");
  check_reads(binary(0x21, 0x00, "abc"), "-");
  check_reads(binary(0x21, 0x12, kV4), "-");
  check_reads(binary(0x21, 0x31, std::string(216, 'x')), "-");
}

TEST_CASE("binary headers that are none are refused") {
  check_refused(binary(0x21, 0x11, kV4.substr(1)));
  check_refused(binary(0x21, 0x21, kV4));
  check_refused(binary(0x11, 0x11, kV4));
  check_refused(binary(0x22, 0x11, kV4));
  check_refused(binary(0x21, 0x41, kV4));
  check_refused(binary(0x21, 0x13, kV4));
  // Before it is waited for.
  check_refused(binary(0x21, 0x11, std::string(2049, 'x')), 16);
  for (std::size_t i = 0; i < kSignature.size(); ++i) {
    std::string bytes = kSignature;
    bytes[i] ^= 1;
    // "\r" ^ 1 is no 'P', so each is told at once.
    check_refused(bytes, i + 1);
  }
}

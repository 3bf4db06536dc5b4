// What no client of good will sends: it is refused as corrupt or read, and
// nothing else happens.
#include <functional>

#include <doctest/doctest.h>

#include "base/error.h"
#include "base/random.h"
#include "protocol/boinc/scheduler_request.h"
#include "protocol/boinc/upload.h"
#include "tests/protocol/boinc/samples.h"

namespace quorate::boinc {
namespace {

const char* const kRecorded[] = {"request_first.xml", "request_reports.xml",
                                 "request_gpu.xml", "request_trickle.xml"};

std::string refusal_of(const std::string& text) {
  try {
    parse_scheduler_request(as_bytes(text));
  } catch (const Error& error) {
    CHECK(error.kind() == ErrorKind::corrupt);
    return error.what();
  }
  return "no error";
}

bool is_read_or_corrupt(const std::string& text) {
  try {
    SchedulerRequest request = parse_scheduler_request(as_bytes(text));
    return parse_scheduler_request(as_bytes(write_request(request))) == request;
  } catch (const Error& error) {
    return error.kind() == ErrorKind::corrupt;
  }
}

std::string repeated(const std::string& text, std::size_t bytes) {
  std::string out;
  while (out.size() < bytes) out += text;
  return out;
}

}  // namespace

TEST_CASE("a request that is cut short is refused") {
  for (const char* name : kRecorded) {
    std::string text = golden(name);
    std::size_t whole = text.find("</scheduler_request>") + 20;
    for (std::size_t size = 0; size < whole; ++size) {
      CAPTURE(size);
      REQUIRE_THROWS_AS(
          parse_scheduler_request(as_bytes(text).subspan(0, size)), Error);
    }
  }
}

TEST_CASE("a request with changed bytes is read or refused") {
  constexpr std::string_view kBytes("\0&</>-9", 7);
  std::string sample = write_request(sample_request());
  for (std::size_t at = 0; at < sample.size(); ++at) {
    for (char byte : kBytes) {
      std::string text = sample;
      text[at] = byte;
      CAPTURE(text);
      REQUIRE(is_read_or_corrupt(text));
    }
  }
}

TEST_CASE("a request with pieces in wrong places is read or refused") {
  RandomStream random(6, 1, 1);
  std::string sample = write_request(sample_request());
  for (int round = 0; round < 5000; ++round) {
    std::string text = sample;
    for (std::uint32_t i = 0; i <= random.next() % 4; ++i) {
      std::size_t at = random.next() % text.size();
      std::size_t from = random.next() % text.size();
      text.insert(at, text.substr(from, random.next() % 60));
    }
    CAPTURE(text);
    REQUIRE(is_read_or_corrupt(text));
  }
}

TEST_CASE("garbage of every kind is refused") {
  constexpr std::size_t kMany = 1000000;
  for (std::string piece : {"<a>",
                            "<a/>",
                            "<a></a>",
                            "<",
                            ">",
                            "</",
                            "</a>",
                            "<a b='' c=''",
                            "<a b='' c=''/>",
                            "&lt;",
                            "&#0;",
                            "&amp",
                            "a",
                            "\xff",
                            "<!---->",
                            "<![CDATA[]]>",
                            "<![CDATA[",
                            "<!DOCTYPE [",
                            "<?xml?>",
                            "]]>"}) {
    CAPTURE(piece);
    std::string garbage = repeated(piece, kMany);
    CHECK(refusal_of(garbage) != "no error");
    CHECK(is_read_or_corrupt(request_with(garbage)));
    CHECK(is_read_or_corrupt("<scheduler_request>" + garbage));
  }
}

TEST_CASE("a request is bounded before a tree is built") {
  CHECK(refusal_of(std::string((1 << 20) + 1, ' ')) ==
        "scheduler request: 1048577 bytes, at most 1048576");
  CHECK(refusal_of(request_with(repeated("<a></a>", 300000)))
            .find("times < or =, at most 65536") != std::string::npos);
  CHECK(refusal_of(request_with(repeated("<a b='' c='' d=''/>", 900000)))
            .find("times < or =, at most 65536") != std::string::npos);
  // Results enough to fill a message; fewer than tags.
  std::string results =
      repeated("<result><name>r</name><state>5</state></result>", 400000);
  CHECK(refusal_of(request_with(results)) ==
        "scheduler request: <result>: expected at most 256, found more");
}

TEST_CASE("a deep document is refused or skipped") {
  std::string open = repeated("<a>", 90000);
  std::string close = repeated("</a>", 120000);
  CHECK(refusal_of(request_with(open + close)) == "no error");
  CHECK(refusal_of(request_with(repeated("<result>", 200000)))
            .find("not XML at byte") != std::string::npos);
}

TEST_CASE("entities are not expanded, and no document is fetched") {
  std::string bomb =
      "<!DOCTYPE x [<!ENTITY a \"0123456789\"><!ENTITY b \"&a;&a;&a;\">"
      "<!ENTITY c SYSTEM \"file:///etc/passwd\">]>" +
      request_with("<host_info><domain_name>&b;&c;</domain_name></host_info>");
  CHECK(parse_scheduler_request(as_bytes(bomb)).host.name == "&b;&c;");
}

TEST_CASE("a zero byte, however it comes, ends nothing early") {
  std::string text = request_with("<rpc_x>a</rpc_x>");
  text[text.find(">a<") + 1] = '\0';
  CHECK(refusal_of(text) == "scheduler request: a zero byte in the text");
  SchedulerRequest request = parse_scheduler_request(as_bytes(
      request_with("<host_info><domain_name>a&#0;b</domain_name></host_info>"
                   "<file_info><name>f</name><status>1</status></file_info>")));
  CHECK(request.host.name.starts_with("a"));
  CHECK(request.files.size() == 1);
}

TEST_CASE("another message is refused by its name") {
  CHECK(refusal_of("<data_server_request/>") ==
        "scheduler request: expected <scheduler_request>, found "
        "<data_server_request>");
  CHECK(refusal_of("").starts_with("scheduler request: not XML at byte 1"));
}

TEST_CASE("an upload's head with changed bytes is read or refused") {
  std::string sample = golden("upload.bin");
  for (std::size_t at = 0; at < sample.size(); ++at) {
    for (char byte : {'\0', '<', '>', '/', '9', '-', '.', '\xff', 'e', '\n'}) {
      std::string text = sample;
      text[at] = byte;
      try {
        auto upload = parse_upload_head(as_bytes(text));
        REQUIRE((!upload || upload->index() <= 1));
      } catch (const Error& error) {
        REQUIRE(error.kind() == ErrorKind::corrupt);
      }
    }
  }
}

}  // namespace quorate::boinc

#include "client/control/frames.h"

#include <doctest/doctest.h>

#include "base/error.h"

using namespace quorate;
using namespace quorate::client;

TEST_CASE("frames come whole, however their bytes come") {
  const std::string sent = encode_frame(FrameKind::argument, "status") +
                           encode_frame(FrameKind::argument, "") +
                           encode_frame(FrameKind::run, "");
  for (std::size_t piece = 1; piece <= sent.size(); ++piece) {
    FrameReader reader;
    std::string seen;
    for (std::size_t at = 0; at < sent.size(); at += piece) {
      reader.take(std::string_view(sent).substr(at, piece));
      while (const auto frame = reader.next()) {
        seen += static_cast<char>(frame->kind) + frame->bytes + ".";
      }
    }
    CHECK(seen == "astatus.a.r.");
  }
}

TEST_CASE("a frame is as long as allowed, and no longer") {
  FrameReader reader;
  reader.take(encode_frame(FrameKind::output, std::string(kMostFrame, 'x')));
  CHECK(reader.next()->bytes.size() == kMostFrame);
  reader.take({"o\0\0\x40\x01", 5});  // before any of its bytes are there
  CHECK_THROWS_WITH_AS(reader.next(),
                       "control socket: a frame of 16385 bytes: expected at "
                       "most 16384",
                       Error);
}

TEST_CASE("bytes that are no frame are refused at the first") {
  FrameReader reader;
  reader.take("G");
  CHECK_THROWS_WITH_AS(reader.next(),
                       "control socket: expected one of the letters \"aroex\", "
                       "found byte 71",
                       Error);
}

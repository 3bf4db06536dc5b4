// What goes over the control socket, both ways: a letter, the length of what
// follows in four bytes, most significant first, and so many bytes.
//
// The room client/control lets people command an agent that runs as a service,
// under another user: its door does what a command asks that came over the
// socket, if who asks may ask it. It owns the socket, a thread for each caller
// and a process for each command, and may include server/http and no other
// room of client/.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace quorate::client {

enum class FrameKind : char {
  argument = 'a',  // of the command, without the program's name
  run = 'r',       // those were all; empty
  output = 'o',    // what it printed
  error = 'e',     // what it wrote to standard error
  end = 'x',       // its exit code, in digits
};

struct Frame {
  FrameKind kind = FrameKind::run;
  std::string bytes;
};

inline constexpr std::size_t kMostFrame = 16 << 10;

// bytes: at most kMostFrame of them.
std::string encode_frame(FrameKind kind, std::string_view bytes);

// Frames out of bytes as they come.
class FrameReader {
 public:
  void take(std::string_view bytes) { buffer_ += bytes; }
  // The next whole one. Throws corrupt for an unknown letter or a length over
  // kMostFrame.
  std::optional<Frame> next();

 private:
  std::string buffer_;
};

}  // namespace quorate::client

#include "client/control/frames.h"

#include <cstdint>

#include <fmt/format.h>

#include "base/error.h"

namespace quorate::client {
namespace {

constexpr std::size_t kHead = 5;

bool is_known(char letter) {
  return std::string_view("aroex").find(letter) != std::string_view::npos;
}

}  // namespace

std::string encode_frame(FrameKind kind, std::string_view bytes) {
  const auto length = static_cast<std::uint32_t>(bytes.size());
  std::string frame(1, static_cast<char>(kind));
  for (const unsigned shift : {24U, 16U, 8U, 0U}) {
    frame += static_cast<char>((length >> shift) & 0xff);
  }
  return frame.append(bytes);
}

std::optional<Frame> FrameReader::next() {
  if (buffer_.empty()) return std::nullopt;
  if (!is_known(buffer_[0])) {
    throw Error(ErrorKind::corrupt,
                fmt::format("control socket: expected one of the letters "
                            "\"aroex\", found byte {}",
                            static_cast<unsigned char>(buffer_[0])));
  }
  if (buffer_.size() < kHead) return std::nullopt;
  std::uint32_t length = 0;
  for (std::size_t i = 1; i < kHead; ++i) {
    length = length << 8 | static_cast<unsigned char>(buffer_[i]);
  }
  if (length > kMostFrame) {
    throw Error(ErrorKind::corrupt,
                fmt::format("control socket: a frame of {} bytes: expected at "
                            "most {}",
                            length, kMostFrame));
  }
  if (buffer_.size() < kHead + length) return std::nullopt;
  Frame frame{static_cast<FrameKind>(buffer_[0]),
              buffer_.substr(kHead, length)};
  buffer_.erase(0, kHead + length);
  return frame;
}

}  // namespace quorate::client

#include "base/bytes.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/error.h"

namespace quorate {
namespace {

constexpr std::string_view kDigits = "0123456789abcdef";

int digit_value(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

}  // namespace

std::string to_hex(ByteView bytes) {
  std::string text;
  text.reserve(2 * bytes.size());
  for (std::uint8_t byte : bytes) {
    text.push_back(kDigits[byte >> 4]);
    text.push_back(kDigits[byte & 15]);
  }
  return text;
}

void from_hex(std::string_view text, std::span<std::uint8_t> out,
              std::string_view what) {
  if (text.size() != 2 * out.size()) {
    throw Error(ErrorKind::corrupt,
                fmt::format("{}: expected {} hexadecimal digits, found {}",
                            what, 2 * out.size(), text.size()));
  }
  for (std::size_t i = 0; i < out.size(); ++i) {
    int high = digit_value(text[2 * i]);
    int low = digit_value(text[2 * i + 1]);
    if (high < 0 || low < 0) {
      throw Error(ErrorKind::corrupt,
                  fmt::format("{}: not a hexadecimal digit near position {}",
                              what, 2 * i));
    }
    out[i] = static_cast<std::uint8_t>(high << 4 | low);
  }
}

void ByteWriter::put_text(std::string_view text) {
  put(static_cast<std::uint32_t>(text.size()));
  put_bytes(as_bytes(text));
}

ByteView ByteReader::take(std::size_t size) {
  if (size > left()) {
    throw Error(
        ErrorKind::corrupt,
        fmt::format("{}: ends too early: expected {} more bytes at byte {}, "
                    "found {}",
                    what_, size, at_, left()));
  }
  ByteView view = bytes_.subspan(at_, size);
  at_ += size;
  return view;
}

void ByteReader::get_bytes(std::span<std::uint8_t> out) {
  ByteView raw = take(out.size());
  std::copy(raw.begin(), raw.end(), out.begin());
}

std::string ByteReader::get_text(std::size_t max_size) {
  std::size_t size = get<std::uint32_t>();
  if (size > max_size) {
    throw Error(ErrorKind::corrupt,
                fmt::format("{}: text of {} bytes at byte {}, allowed are {}",
                            what_, size, at_, max_size));
  }
  return std::string(as_text(take(size)));
}

void ByteReader::expect_end() const {
  if (left() != 0) {
    throw Error(ErrorKind::corrupt,
                fmt::format("{}: {} bytes too many", what_, left()));
  }
}

}  // namespace quorate

// Bytes as they stand in files and messages: little-endian integers, read with
// bounds checks, and their hexadecimal text.
#pragma once

#include <concepts>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace quorate {

using Bytes = std::vector<std::uint8_t>;
using ByteView = std::span<const std::uint8_t>;

inline ByteView as_bytes(std::string_view text) {
  return {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()};
}
inline std::string_view as_text(ByteView bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

// Lower case, two digits a byte.
std::string to_hex(ByteView bytes);

// Throws corrupt unless `text` is exactly out.size() bytes in hexadecimal.
// what: names the value in the message, for example "workunit hash".
void from_hex(std::string_view text, std::span<std::uint8_t> out,
              std::string_view what);

// Appends little-endian integers and raw bytes to a growing buffer.
class ByteWriter {
 public:
  template <std::unsigned_integral T>
  void put(T value) {
    for (std::size_t i = 0; i < sizeof(T); ++i) {
      out_.push_back(static_cast<std::uint8_t>(value >> (8 * i)));
    }
  }
  void put_bytes(ByteView bytes) {
    out_.insert(out_.end(), bytes.begin(), bytes.end());
  }
  // A u32 length, then the text.
  void put_text(std::string_view text);

  Bytes take() { return std::move(out_); }

 private:
  Bytes out_;
};

// Reads what ByteWriter wrote. Every method throws corrupt, naming `what`,
// when the bytes end too early.
class ByteReader {
 public:
  ByteReader(ByteView bytes, std::string_view what)
      : bytes_(bytes), what_(what) {}

  template <std::unsigned_integral T>
  T get() {
    ByteView raw = take(sizeof(T));
    std::uint64_t value = 0;
    for (std::size_t i = 0; i < sizeof(T); ++i) {
      value |= static_cast<std::uint64_t>(raw[i]) << (8 * i);
    }
    return static_cast<T>(value);
  }
  // A view into the buffer, valid as long as it.
  ByteView take(std::size_t size);
  void get_bytes(std::span<std::uint8_t> out);
  // Throws corrupt if the text is longer than max_size.
  std::string get_text(std::size_t max_size);
  std::size_t left() const { return bytes_.size() - at_; }
  // Throws corrupt if bytes are left over.
  void expect_end() const;

 private:
  ByteView bytes_;
  std::string what_;
  std::size_t at_ = 0;
};

}  // namespace quorate

// Reads JSON messages from outside: bounded before anything is built, and every
// field checked where it is taken. A failure throws corrupt and names message,
// field, what was expected and what was found:
//   work request: "want": expected an integer from 0 to 64, found "x"
// For the sources of protocol/ only; no other folder includes it.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "base/bytes.h"
#include "base/clock.h"
#include "base/crypto.h"

namespace quorate::protocol {

inline constexpr std::size_t kMaxMessageBytes = 256 * 1024;
inline constexpr std::size_t kMaxNesting = 16;
// Identifiers (result, host, job) are positive rows of a table.
inline constexpr std::uint64_t kMaxId = INT64_MAX;

// A value in a document, and the way to it for messages. Lives no longer than
// its JsonDocument. Members that a peer may leave out are taken with find().
class JsonValue {
 public:
  JsonValue(const nlohmann::json& node, const std::string& message,
            std::string path)
      : node_(&node), message_(&message), path_(std::move(path)) {}

  // A member of this object. at() throws when it is missing, find() returns
  // nullopt when it is missing or null.
  JsonValue at(const char* key) const;
  std::optional<JsonValue> find(const char* key) const;

  std::uint64_t integer(std::uint64_t most) const;  // from 0
  std::uint32_t integer32(std::uint32_t most = UINT32_MAX) const;
  std::int64_t id() const;
  double number(double most) const;  // finite, from 0
  Seconds seconds(double most) const { return Seconds(number(most)); }
  bool boolean() const;
  // Plain (protocol/text.h) and at most `most` bytes.
  std::string text(std::size_t most) const;
  template <class T>
  T hex() const {
    T value;
    hex_into(value.bytes);
    return value;
  }
  // The elements of this list.
  std::vector<JsonValue> items(std::size_t most) const;

  // Throws corrupt: this field, "expected ...", what is there.
  [[noreturn]] void refuse(const std::string& expected) const;

 private:
  JsonValue child(const nlohmann::json& node, const char* key) const;
  void hex_into(std::span<std::uint8_t> out) const;

  const nlohmann::json* node_;
  const std::string* message_;
  std::string path_;  // "holding[3].step"; empty for the whole
};

class JsonDocument {
 public:
  // message: names what is read, "work request". Throws corrupt unless `bytes`
  // are one JSON object within the bounds above.
  JsonDocument(ByteView bytes, std::string message);
  ~JsonDocument();
  JsonDocument(const JsonDocument&) = delete;
  JsonDocument& operator=(const JsonDocument&) = delete;

  JsonValue root() const;

 private:
  std::string message_;
  std::unique_ptr<nlohmann::json> root_;
};

}  // namespace quorate::protocol

// JSON that others wrote, read with bounds on size, depth, types and ranges.
// For sources that define a format; headers show no JSON.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

#include "base/crypto.h"

namespace quorate {

// Integers beyond this are not exact in every JSON reader.
inline constexpr std::uint64_t kMaxJsonInteger = 1ULL << 53;

struct JsonLimits {
  std::size_t bytes = 0;
  std::size_t depth = 0;  // of nested arrays and objects
};

// Throws corrupt, naming `what`, for anything but one JSON value within the
// limits; also for an object that names a key twice, since two readers could
// take different values from it.
nlohmann::json parse_json(std::string_view text, const JsonLimits& limits,
                          std::string_view what);

// One line without white space, keys sorted; bytes that are not UTF-8 are
// replaced.
std::string dump_json(const nlohmann::json& json);

// A binary32 value by its bits, "3f800000", and a 64-bit seed.
std::string hex_of_float(float value);
std::string hex_of_seed(std::uint64_t seed);

// The fields of one JSON object. Every method throws corrupt, naming `what`
// and the field, if it is missing, of another type, or out of bounds.
class JsonFields {
 public:
  // json: must outlive this.
  JsonFields(const nlohmann::json& json, std::string_view what);

  bool has(const char* name) const;
  const nlohmann::json& at(const char* name) const;
  std::uint64_t integer(const char* name, std::uint64_t least = 0,
                        std::uint64_t most = kMaxJsonInteger) const;
  std::uint32_t integer32(
      const char* name, std::uint32_t least = 0,
      std::uint32_t most = std::numeric_limits<std::uint32_t>::max()) const {
    return static_cast<std::uint32_t>(integer(name, least, most));
  }
  double number(const char* name) const;  // finite, from 0
  std::string text(const char* name, std::size_t most_bytes) const;
  const nlohmann::json& array(const char* name) const;
  float float_of_hex(const char* name) const;
  std::uint64_t seed_of_hex(const char* name) const;
  // T: a Hash or another FixedBytes.
  template <class T>
  T fixed_bytes(const char* name) const {
    return parse_hex<T>(text(name, 2 * sizeof(T)), label(name));
  }
  // "task: field \"steps\"", for messages.
  std::string label(const char* name) const;

 private:
  const nlohmann::json& json_;
  std::string what_;
};

// The bits written as 8 hexadecimal digits. Throws corrupt.
float parse_float_hex(std::string_view text, std::string_view what);

}  // namespace quorate

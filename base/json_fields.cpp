#include "base/json_fields.h"

#include <array>
#include <cmath>
#include <set>
#include <vector>

#include <fmt/format.h>

#include "base/arithmetic.h"
#include "base/bytes.h"
#include "base/error.h"

namespace quorate {
namespace {

using nlohmann::json;

// Watches a parse as it goes, so that nothing beyond the limits is built.
class Guard {
 public:
  Guard(const JsonLimits& limits, std::string_view what)
      : limits_(limits), what_(what) {}

  void see(std::size_t depth, json::parse_event_t event, const json& parsed) {
    using Event = json::parse_event_t;
    if (event == Event::object_start || event == Event::array_start) {
      if (depth >= limits_.depth) {
        throw Error(ErrorKind::corrupt,
                    fmt::format("{}: JSON nested deeper than {}", what_,
                                limits_.depth));
      }
    }
    if (event == Event::object_start) keys_.emplace_back();
    if (event == Event::object_end) keys_.pop_back();
    if (event == Event::key) {
      const auto& key = parsed.get_ref<const std::string&>();
      if (!keys_.back().insert(key).second) {
        throw Error(ErrorKind::corrupt,
                    fmt::format("{}: field \"{}\" twice", what_, key));
      }
    }
  }

 private:
  JsonLimits limits_;
  std::string_view what_;
  std::vector<std::set<std::string>> keys_;  // of the objects being read
};

}  // namespace

json parse_json(std::string_view text, const JsonLimits& limits,
                std::string_view what) {
  if (text.size() > limits.bytes) {
    throw Error(ErrorKind::corrupt,
                fmt::format("{}: {} bytes of JSON, allowed are {}", what,
                            text.size(), limits.bytes));
  }
  Guard guard(limits, what);
  auto watch = [&guard](int depth, json::parse_event_t event, json& parsed) {
    guard.see(static_cast<std::size_t>(depth), event, parsed);
    return true;
  };
  try {
    return json::parse(text.begin(), text.end(), watch);
  } catch (const json::parse_error& error) {
    throw Error(ErrorKind::corrupt,
                fmt::format("{}: not JSON at byte {}", what, error.byte));
  } catch (const json::exception&) {
    throw Error(ErrorKind::corrupt,
                fmt::format("{}: JSON holds a number out of range", what));
  }
}

std::string dump_json(const json& json) {
  return json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

std::string hex_of_float(float value) {
  return fmt::format("{:08x}", bits(value));
}

std::string hex_of_seed(std::uint64_t seed) {
  return fmt::format("{:016x}", seed);
}

JsonFields::JsonFields(const json& json, std::string_view what)
    : json_(json), what_(what) {
  if (!json.is_object()) {
    throw Error(ErrorKind::corrupt,
                fmt::format("{}: expected a JSON object, found {}", what,
                            json.type_name()));
  }
}

std::string JsonFields::label(const char* name) const {
  return fmt::format("{}: field \"{}\"", what_, name);
}

bool JsonFields::has(const char* name) const {
  return json_.contains(name);
}

const json& JsonFields::at(const char* name) const {
  auto found = json_.find(name);
  if (found == json_.end()) {
    throw Error(ErrorKind::corrupt, label(name) + " is missing");
  }
  return *found;
}

std::uint64_t JsonFields::integer(const char* name, std::uint64_t least,
                                  std::uint64_t most) const {
  const json& value = at(name);
  if (!value.is_number_unsigned()) {
    throw Error(ErrorKind::corrupt,
                label(name) + ": expected an integer of at least 0");
  }
  auto number = value.get<std::uint64_t>();
  if (number < least || number > most) {
    throw Error(ErrorKind::corrupt,
                fmt::format("{}: expected {} to {}, found {}", label(name),
                            least, most, number));
  }
  return number;
}

double JsonFields::number(const char* name) const {
  const json& value = at(name);
  if (!value.is_number() || value.get<double>() < 0 ||
      !std::isfinite(value.get<double>())) {
    throw Error(ErrorKind::corrupt,
                label(name) + ": expected a number of at least 0");
  }
  return value.get<double>();
}

const json& JsonFields::array(const char* name) const {
  const json& value = at(name);
  if (!value.is_array()) {
    throw Error(ErrorKind::corrupt,
                fmt::format("{}: expected an array, found {}", label(name),
                            value.type_name()));
  }
  return value;
}

std::string JsonFields::text(const char* name, std::size_t most_bytes) const {
  const json& value = at(name);
  if (!value.is_string()) {
    throw Error(ErrorKind::corrupt,
                fmt::format("{}: expected a text, found {}", label(name),
                            value.type_name()));
  }
  const auto& text = value.get_ref<const std::string&>();
  if (text.size() > most_bytes) {
    throw Error(ErrorKind::corrupt,
                fmt::format("{}: {} bytes, allowed are {}", label(name),
                            text.size(), most_bytes));
  }
  return text;
}

float JsonFields::float_of_hex(const char* name) const {
  return parse_float_hex(text(name, 8), label(name));
}

std::uint64_t JsonFields::seed_of_hex(const char* name) const {
  std::array<std::uint8_t, 8> raw{};
  from_hex(text(name, 16), raw, label(name));
  std::uint64_t seed = 0;
  for (std::uint8_t byte : raw) seed = seed << 8 | byte;
  return seed;
}

float parse_float_hex(std::string_view text, std::string_view what) {
  std::array<std::uint8_t, 4> raw{};
  from_hex(text, raw, what);
  std::uint32_t pattern = 0;
  for (std::uint8_t byte : raw) pattern = pattern << 8 | byte;
  return float_of_bits(pattern);
}

}  // namespace quorate

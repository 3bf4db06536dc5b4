#include "base/json_fields.h"

#include <array>
#include <cmath>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/arithmetic.h"
#include "base/bytes.h"
#include "base/error.h"

namespace quorate {
namespace {

using nlohmann::json;

// Builds the value as it is read, so that nothing beyond the limits is built. A
// reader of our own: the library's, given a callback, looks through the whole
// parent whenever an object in it ends, which takes seconds for 200 kB.
class Builder final : public json::json_sax_t {
 public:
  Builder(const JsonLimits& limits, std::string_view what)
      : limits_(limits), what_(what) {}

  json take() { return std::move(root_); }

  bool null() override { return add(nullptr); }
  bool boolean(bool value) override { return add(value); }
  bool number_integer(std::int64_t value) override { return add(value); }
  bool number_unsigned(std::uint64_t value) override { return add(value); }
  bool number_float(double value, const std::string&) override {
    return add(value);
  }
  bool string(std::string& value) override { return add(std::move(value)); }
  bool binary(json::binary_t&) override { return false; }  // not in text

  bool start_object(std::size_t) override { return open(json::object()); }
  bool start_array(std::size_t) override { return open(json::array()); }
  bool end_object() override { return close(); }
  bool end_array() override { return close(); }

  bool key(std::string& name) override {
    const auto [at, is_new] = open_.back()->emplace(std::move(name), nullptr);
    if (!is_new) {
      throw Error(ErrorKind::corrupt,
                  fmt::format("{}: field \"{}\" twice", what_, at.key()));
    }
    field_ = &*at;
    return true;
  }

  bool parse_error(std::size_t byte, const std::string&,
                   const json::exception& error) override {
    constexpr int kOutOfRange = 406;
    throw Error(ErrorKind::corrupt,
                error.id == kOutOfRange
                    ? fmt::format("{}: JSON holds a number out of range", what_)
                    : fmt::format("{}: not JSON at byte {}", what_, byte));
  }

 private:
  bool add(json&& value) {
    place() = std::move(value);
    return true;
  }

  bool open(json&& container) {
    if (open_.size() >= limits_.depth) {
      throw Error(
          ErrorKind::corrupt,
          fmt::format("{}: JSON nested deeper than {}", what_, limits_.depth));
    }
    json& at = place();
    at = std::move(container);
    open_.push_back(&at);
    return true;
  }

  bool close() {
    open_.pop_back();
    return true;
  }

  // Where the next value goes.
  json& place() {
    if (open_.empty()) return root_;
    if (open_.back()->is_object()) return *field_;
    return open_.back()->emplace_back(nullptr);
  }

  JsonLimits limits_;
  std::string_view what_;
  json root_;
  json* field_ = nullptr;    // whose name was read last
  std::vector<json*> open_;  // what is being read, outermost first
};

}  // namespace

json parse_json(std::string_view text, const JsonLimits& limits,
                std::string_view what) {
  if (text.size() > limits.bytes) {
    throw Error(ErrorKind::corrupt,
                fmt::format("{}: {} bytes of JSON, allowed are {}", what,
                            text.size(), limits.bytes));
  }
  Builder builder(limits, what);
  json::sax_parse(text.begin(), text.end(), &builder);
  return builder.take();
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

#include "protocol/json_reader.h"

#include <cmath>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/json_fields.h"
#include "protocol/text.h"

namespace quorate::protocol {
namespace {

using Json = nlohmann::json;

constexpr JsonLimits kLimits{kMaxMessageBytes, kMaxNesting};

[[noreturn]] void reject(const std::string& message, const std::string& why) {
  throw Error(ErrorKind::corrupt, message + ": " + why);
}

// What stands in a field, short enough for an error message.
std::string shown(const Json& node) {
  constexpr std::size_t kShown = 40;
  if (node.is_object()) return "an object";
  if (node.is_array()) return fmt::format("a list of {}", node.size());
  if (node.is_string()) {
    return '"' + plain_text(node.get_ref<const std::string&>(), kShown) + '"';
  }
  return node.dump();
}

}  // namespace

JsonValue JsonValue::child(const Json& node, const char* key) const {
  return JsonValue(node, *message_, path_.empty() ? key : path_ + '.' + key);
}

std::optional<JsonValue> JsonValue::find(const char* key) const {
  if (!node_->is_object()) refuse("an object");
  auto found = node_->find(key);
  if (found == node_->end() || found->is_null()) return std::nullopt;
  return child(*found, key);
}

JsonValue JsonValue::at(const char* key) const {
  std::optional<JsonValue> found = find(key);
  if (!found) {
    reject(*message_, fmt::format("\"{}\" is missing",
                                  path_.empty() ? key : path_ + '.' + key));
  }
  return *std::move(found);
}

std::uint64_t JsonValue::integer(std::uint64_t most) const {
  // A negative integer has another type than an unsigned one.
  if (node_->is_number_unsigned()) {
    auto value = node_->get<std::uint64_t>();
    if (value <= most) return value;
  }
  refuse(fmt::format("an integer from 0 to {}", most));
}

std::uint32_t JsonValue::integer32(std::uint32_t most) const {
  return static_cast<std::uint32_t>(integer(most));
}

std::int64_t JsonValue::id() const {
  return static_cast<std::int64_t>(integer(kMaxId));
}

double JsonValue::number(double most) const {
  if (node_->is_number()) {
    double value = node_->get<double>();
    if (std::isfinite(value) && value >= 0 && value <= most) return value;
  }
  refuse(fmt::format("a number from 0 to {}", most));
}

bool JsonValue::boolean() const {
  if (!node_->is_boolean()) refuse("true or false");
  return node_->get<bool>();
}

std::string JsonValue::text(std::size_t most) const {
  if (!node_->is_string()) refuse("a text");
  const auto& value = node_->get_ref<const std::string&>();
  if (value.size() > most) {
    refuse(fmt::format("a text of at most {} bytes", most));
  }
  if (!is_plain_text(value))
    refuse("a text without control or invisible characters");
  return value;
}

void JsonValue::hex_into(std::span<std::uint8_t> out) const {
  bool fits = node_->is_string() &&
              node_->get_ref<const std::string&>().size() == 2 * out.size();
  if (fits) {
    try {
      from_hex(node_->get_ref<const std::string&>(), out, path_);
      return;
    } catch (const Error&) {
      // refused below, in this reader's words
    }
  }
  refuse(fmt::format("{} hexadecimal digits", 2 * out.size()));
}

std::vector<JsonValue> JsonValue::items(std::size_t most) const {
  if (!node_->is_array() || node_->size() > most) {
    refuse(fmt::format("a list of at most {}", most));
  }
  std::vector<JsonValue> out;
  out.reserve(node_->size());
  for (const Json& item : *node_) {
    out.emplace_back(item, *message_, fmt::format("{}[{}]", path_, out.size()));
  }
  return out;
}

void JsonValue::refuse(const std::string& expected) const {
  std::string where = path_.empty() ? "" : fmt::format("\"{}\": ", path_);
  reject(*message_, fmt::format("{}expected {}, found {}", where, expected,
                                shown(*node_)));
}

JsonDocument::JsonDocument(ByteView bytes, std::string message)
    : message_(std::move(message)),
      root_(std::make_unique<Json>(
          parse_json(as_text(bytes), kLimits, message_))) {
  if (!root_->is_object()) root().refuse("an object");
}

JsonDocument::~JsonDocument() = default;

JsonValue JsonDocument::root() const {
  return JsonValue(*root_, message_, {});
}

}  // namespace quorate::protocol

#include "server/web/web_operators.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/error.h"
#include "base/json_fields.h"

namespace quorate {
namespace {

using nlohmann::json;

constexpr std::string_view kFormat = "quorate web operators v1";
constexpr JsonLimits kFileLimits{64 << 10, 3};
constexpr std::size_t kMostAccountName = 32;
constexpr int kPrivate = 0600;

[[noreturn]] void refuse(const std::string& why) {
  throw Error(ErrorKind::corrupt,
              fmt::format("web operators: {}: remove the file, and make them "
                          "again with `quorate operators web NAME`",
                          why));
}

json row_of(const WebOperator& one) {
  return {{"name", one.name},
          {"guest", one.is_guest},
          {"made", one.made},
          {"salt", one.salt.hex()},
          {"password", one.password.hex()},
          {"secret", one.secret.hex()}};
}

WebOperator read_row(const json& row) {
  const JsonFields fields(row, "web operators");
  WebOperator one;
  one.name = fields.text("name", kMostAccountName);
  if (!is_web_name(one.name)) refuse("a name that is none");
  const json& guest = fields.at("guest");
  if (!guest.is_boolean()) refuse("guest: expected true or false");
  one.is_guest = guest.get<bool>();
  one.made = static_cast<std::int64_t>(fields.integer("made"));
  one.salt = fields.fixed_bytes<FixedBytes<16>>("salt");
  one.password = fields.fixed_bytes<Hash>("password");
  one.secret = fields.fixed_bytes<CodeSecret>("secret");
  return one;
}

}  // namespace

bool is_web_name(std::string_view name) {
  return !name.empty() && name.size() <= kMostAccountName &&
         std::all_of(name.begin(), name.end(), [](char c) {
           return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') ||
                  c == '.' || c == '_' || c == '-';
         });
}

std::string who_of(const WebOperator& one) {
  return "web:" + one.name;
}

WebOperator new_web_operator(const std::string& name, bool is_guest,
                             std::string_view password, std::int64_t now_ms) {
  WebOperator one;
  one.name = name;
  one.is_guest = is_guest;
  one.made = now_ms;
  one.salt = secret_random<FixedBytes<16>>();
  one.password = slow_hash(as_bytes(password), one.salt.view());
  one.secret = secret_random<CodeSecret>();
  return one;
}

std::vector<WebOperator> parse_web_operators(std::string_view text) {
  const json parsed = parse_json(text, kFileLimits, "web operators");
  const JsonFields fields(parsed, "web operators");
  if (fields.text("format", kFormat.size()) != kFormat) {
    refuse(fmt::format("expected format \"{}\"", kFormat));
  }
  std::vector<WebOperator> operators;
  for (const json& row : fields.array("operators")) {
    operators.push_back(read_row(row));
  }
  if (operators.size() > kMostWebOperators) refuse("too many");
  for (std::size_t i = 1; i < operators.size(); ++i) {
    if (operators[i - 1].name >= operators[i].name) refuse("not in order");
  }
  if (write_web_operators(operators) != text) {
    refuse("not written as we write it");
  }
  return operators;
}

std::string write_web_operators(std::vector<WebOperator> operators) {
  std::sort(operators.begin(), operators.end(),
            [](const auto& a, const auto& b) { return a.name < b.name; });
  json rows = json::array();
  for (const WebOperator& one : operators) rows.push_back(row_of(one));
  return dump_json({{"format", kFormat}, {"operators", std::move(rows)}}) +
         "\n";
}

std::vector<WebOperator> load_web_operators(const fs::path& path) {
  if (!fs::exists(path)) return {};
  return parse_web_operators(read_secret_file(path, kFileLimits.bytes));
}

void save_web_operators(const fs::path& path,
                        const std::vector<WebOperator>& operators) {
  write_file_durably(path, as_bytes(write_web_operators(operators)), kPrivate);
}

const WebOperator* find_web_operator(const std::vector<WebOperator>& operators,
                                     std::string_view name) {
  const auto found =
      std::find_if(operators.begin(), operators.end(),
                   [name](const WebOperator& one) { return one.name == name; });
  return found == operators.end() ? nullptr : &*found;
}

}  // namespace quorate

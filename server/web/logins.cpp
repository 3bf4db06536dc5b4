#include "server/web/logins.h"

#include <algorithm>

#include "base/error.h"
#include "base/json_fields.h"

namespace quorate {
namespace {

constexpr JsonLimits kLimits{1 << 10, 1};
constexpr std::size_t kMostName = 64;
constexpr std::size_t kMostCode = 16;
constexpr Seconds kMostWaitOfPlace{15 * 60.0};
// Short: who knows a name can make its owner wait.
constexpr Seconds kMostWaitOfName{30};

}  // namespace

Login parse_login(std::string_view body) {
  const nlohmann::json parsed = parse_json(body, kLimits, "login");
  const JsonFields fields(parsed, "login");
  return {fields.text("name", kMostName),
          fields.text("password", kMostPasswordBytes),
          fields.text("code", kMostCode)};
}

Logins::Logins(fs::path file, const Clock& clock)
    : file_(std::move(file)),
      clock_(clock),
      by_place_(kMostWaitOfPlace, clock),
      by_name_(kMostWaitOfName, clock),
      began_(code_step(clock.unix_ms())) {}

Seconds Logins::wait_of(const Login& login, const Places& places) const {
  Seconds wait = by_name_.wait_of(login.name);
  for (const Place& place : places) {
    wait = std::max(wait, by_place_.wait_of(place.key, place.times));
  }
  return wait;
}

LoginAnswer Logins::check(const Login& login, const Places& places) {
  const Seconds wait = wait_of(login, places);
  if (wait > Seconds(0)) return {std::nullopt, wait};
  const std::vector<WebOperator> operators = load_web_operators(file_);
  const WebOperator* known = find_web_operator(operators, login.name);
  if (!is_right(known, login)) {
    for (const Place& place : places) by_place_.failed(place.key);
    by_name_.failed(login.name);
    return {};
  }
  // Not for its neighbours: one login of its own would let somebody who has a
  // wider place begin again.
  if (!places.empty()) by_place_.succeeded(places.front().key);
  by_name_.succeeded(login.name);
  return {*known};
}

// Of a name that nobody has it takes as long.
bool Logins::is_right(const WebOperator* known, const Login& login) {
  static const WebOperator kNobody;
  const WebOperator& one = known == nullptr ? kNobody : *known;
  const Hash password = slow_hash(as_bytes(login.password), one.salt.view());
  const bool is_password = is_equal_secret(password, one.password);
  const auto code = parse_code(login.code);
  const auto step = step_of_code(one.secret, code.value_or(UINT32_MAX),
                                 code_step(clock_.unix_ms()));
  if (known == nullptr || !is_password || !step) return false;
  std::uint64_t& used = used_.try_emplace(one.name, began_).first->second;
  if (*step <= used) return false;
  used = *step;
  return true;
}

}  // namespace quorate

#include "server/web/one_time_code.h"

#include <algorithm>

#include <doctest/doctest.h>

namespace quorate {
namespace {

CodeSecret code_secret_of(std::string_view text) {
  CodeSecret secret;
  REQUIRE(text.size() == secret.bytes.size());
  std::copy(text.begin(), text.end(), secret.bytes.begin());
  return secret;
}

}  // namespace

TEST_CASE("codes are those of RFC 6238, appendix B") {
  const CodeSecret secret = code_secret_of("12345678901234567890");
  const std::pair<std::int64_t, std::uint32_t> known[] = {
      {59, 287082},       {1111111109, 81804},  {1111111111, 50471},
      {1234567890, 5924}, {2000000000, 279037}, {20000000000, 353130}};
  for (const auto& [at, code] : known) {
    const std::int64_t seconds = at;  // a binding cannot be captured
    CAPTURE(seconds);
    CHECK(one_time_code(secret, code_step(seconds * 1000)) == code);
  }
}

TEST_CASE("a code is good in its 30 seconds and the next ones") {
  const CodeSecret secret = code_secret_of("12345678901234567890");
  const std::uint64_t step = code_step(1111111111'000);
  const std::uint32_t code = one_time_code(secret, step);
  CHECK(step_of_code(secret, code, step) == step);
  CHECK(step_of_code(secret, code, step + 1) == step);
  CHECK(!step_of_code(secret, code, step + 2));
  CHECK(!step_of_code(secret, code, step - 1));
  CHECK(!step_of_code(secret, UINT32_MAX, step));
}

TEST_CASE("a code is six digits") {
  CHECK(parse_code("005924") == 5924);
  for (const char* wrong :
       {"", "5924", "0059240", "00592a", " 05924", "-05924"}) {
    CAPTURE(wrong);
    CHECK(!parse_code(wrong));
  }
}

TEST_CASE("apps read the secret as text and as an address") {
  const CodeSecret secret = code_secret_of("12345678901234567890");
  CHECK(base32(secret.view()) == "GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ");
  // RFC 4648, section 10, without its padding.
  CHECK(base32(as_bytes("foobar")) == "MZXW6YTBOI");
  CHECK(base32({}) == "");
  CHECK(otpauth_url("My project", "anna", secret) ==
        "otpauth://totp/My%20project:anna?secret="
        "GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ&issuer=My%20project&algorithm=SHA1"
        "&digits=6&period=30");
}

}  // namespace quorate

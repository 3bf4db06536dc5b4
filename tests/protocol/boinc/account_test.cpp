#include "protocol/boinc/account.h"

#include <doctest/doctest.h>

namespace quorate::boinc {
namespace {

constexpr std::string_view kHash = "7a68f09bd992671bb3b19a5e70b70299";

AccountError error_of(std::string_view email, std::string_view hash) {
  return std::get<AccountError>(read_account_query(email, hash, ""));
}

}  // namespace

TEST_CASE("an account query is read, its address in lower case") {
  auto query = std::get<AccountQuery>(
      read_account_query("Vol@Example.org", kHash, "Vol Unteer\n"));
  CHECK(query.email == "vol@example.org");
  CHECK(query.password_hash.hex() == kHash);
  CHECK(query.user_name == "Vol Unteer?");
  query = std::get<AccountQuery>(
      read_account_query("v@e", kHash, std::string(100, 'x')));
  CHECK(query.user_name.size() == 64);
}

TEST_CASE("what is no address or password hash has its number") {
  for (std::string email : {"", "vol", "@", "vol@", "@example.org",
                            "v ol@example.org", "v\n@e", "\xff@e"}) {
    CAPTURE(email);
    CHECK(error_of(email, kHash) == AccountError::bad_email);
  }
  CHECK(error_of(std::string(254, 'a') + "@e", kHash) ==
        AccountError::bad_email);
  for (std::string hash : {"", "7a68", "x", "password"}) {
    CHECK(error_of("v@e", hash) == AccountError::bad_password);
  }
  CHECK(error_of("v@e", std::string(kHash) + "00") ==
        AccountError::bad_password);
}

TEST_CASE("replies have the words that clients know") {
  CHECK(write_account("0123456789abcdef0123456789abcdef") ==
        "<account_out>\n"
        "  <authenticator>0123456789abcdef0123456789abcdef</authenticator>\n"
        "</account_out>\n");
  CHECK(write(AccountError::not_found) ==
        "<error>\n"
        "  <error_num>-136</error_num>\n"
        "  <error_msg>there is no account with this e-mail address"
        "</error_msg>\n"
        "</error>\n");
}

}  // namespace quorate::boinc

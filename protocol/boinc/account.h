// Accounts, as the manager and boinccmd look them up and create them
// (lookup_account.php and create_account.php, GET with parameters).
#pragma once

#include <string>
#include <string_view>
#include <variant>

#include "base/weak_crypto.h"

namespace quorate::boinc {

// The numbers that clients have texts for.
enum class AccountError {
  not_found = -136,
  bad_email = -205,
  bad_password = -206,
  email_in_use = -207,
  creation_disabled = -208,
};

struct AccountQuery {
  std::string email;  // in lower case
  // MD5 of password and e-mail address. Who has it has the account: keep only
  // a slow salted hash of it.
  Md5Hash password_hash;
  std::string user_name;  // plain; create_account only, else empty
};

// The parameters email_addr, passwd_hash and user_name, decoded; a missing one
// is empty. Which addresses there are is not for us to judge: this one has an
// "@" between other characters, none of them space or control.
std::variant<AccountQuery, AccountError> read_account_query(
    std::string_view email_addr, std::string_view passwd_hash,
    std::string_view user_name);

std::string write_account(std::string_view authenticator);
std::string write(AccountError error);

}  // namespace quorate::boinc

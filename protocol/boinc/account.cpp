#include "protocol/boinc/account.h"

#include <algorithm>

#include "base/error.h"
#include "protocol/boinc/limits.h"
#include "protocol/boinc/xml_writer.h"
#include "protocol/text.h"

namespace quorate::boinc {
namespace {

constexpr std::size_t kMaxUserName = 64;  // as on the native door

bool is_email(std::string_view text) {
  std::size_t at = text.rfind('@');
  return text.size() <= kMaxEmail && protocol::is_plain_text(text) &&
         text.find(' ') == std::string_view::npos &&
         at != std::string_view::npos && at > 0 && at + 1 < text.size();
}

std::string in_lower_case(std::string_view text) {
  std::string out(text);
  std::transform(out.begin(), out.end(), out.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  return out;
}

std::string_view text_of(AccountError error) {
  switch (error) {
    case AccountError::not_found:
      return "there is no account with this e-mail address";
    case AccountError::bad_email:
      return "this is not an e-mail address";
    case AccountError::bad_password:
      return "this is not the password of the account";
    case AccountError::email_in_use:
      return "there is an account with this e-mail address";
    case AccountError::creation_disabled:
      return "this project takes no new accounts";
  }
  return "unknown error";
}

}  // namespace

std::variant<AccountQuery, AccountError> read_account_query(
    std::string_view email_addr, std::string_view passwd_hash,
    std::string_view user_name) {
  if (!is_email(email_addr)) return AccountError::bad_email;
  AccountQuery query;
  try {
    query.password_hash = parse_hex<Md5Hash>(passwd_hash, "passwd_hash");
  } catch (const Error&) {
    return AccountError::bad_password;
  }
  query.email = in_lower_case(email_addr);
  query.user_name = protocol::plain_text(user_name, kMaxUserName);
  return query;
}

std::string write_account(std::string_view authenticator) {
  XmlWriter xml;
  xml.group("account_out",
            [&] { xml.element("authenticator", authenticator); });
  return xml.take();
}

std::string write(AccountError error) {
  XmlWriter xml;
  xml.group("error", [&] {
    xml.element("error_num", static_cast<int>(error));
    xml.element("error_msg", text_of(error));
  });
  return xml.take();
}

}  // namespace quorate::boinc

#include "protocol/boinc/account_reply.h"

#include <doctest/doctest.h>

#include "base/error.h"
#include "protocol/boinc/account.h"

namespace quorate::boinc {
namespace {

std::string parsed(const std::string& text) {
  return parse_account_reply(as_bytes(text));
}

std::string refusal(const std::string& text, ErrorKind kind) {
  CAPTURE(text);
  try {
    parsed(text);
  } catch (const Error& e) {
    CHECK(e.kind() == kind);
    return e.what();
  }
  FAIL_CHECK("taken");
  return "";
}

}  // namespace

TEST_CASE("an account's key is read as it was written") {
  CHECK(parsed(write_account("0123456789abcdef0123456789abcdef")) ==
        "0123456789abcdef0123456789abcdef");
  CHECK(parsed("<account_out><more/><authenticator> a1\n</authenticator>"
               "</account_out>") == "a1");
}

TEST_CASE("a project's refusal is told in its words") {
  const std::string why =
      refusal(write(AccountError::creation_disabled), ErrorKind::denied);
  CHECK(why.find("this project takes no new accounts (BOINC's error -208)") !=
        std::string::npos);
  CHECK(refusal("<error><error_msg>a\x1b[2J</error_msg></error>",
                ErrorKind::denied)
            .find('\x1b') == std::string::npos);
}

TEST_CASE("what is no answer is refused") {
  const std::string open = "<account_out><authenticator>";
  const std::string close = "</authenticator></account_out>";
  for (const std::string& text :
       {std::string(), std::string("<html/>"), std::string("log in first"),
        std::string("<account_out/>"), open + close, open + "a b" + close,
        open + "&lt;a&gt;" + close, open + std::string(65, 'a') + close,
        open + "a</authenticator><authenticator>b" + close,
        open + "a" + std::string(1, '\0') + close,
        std::string("<a><error></error></a>"),
        std::string("<error><error_num>x</error_num></error>"),
        std::string(2 << 20, ' ')}) {
    refusal(text, ErrorKind::corrupt);
  }
  const std::string whole = write_account("ab12");
  for (std::size_t size = 0; size + 2 < whole.size(); ++size) {
    refusal(whole.substr(0, size), ErrorKind::corrupt);
  }
}

}  // namespace quorate::boinc

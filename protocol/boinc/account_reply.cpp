#include "protocol/boinc/account_reply.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/error.h"
#include "protocol/boinc/xml_reader.h"

namespace quorate::boinc {
namespace {

constexpr std::string_view kMessage = "answer to create_account";
constexpr std::size_t kMaxWords = 200;  // cut

struct Account {
  std::string key;
};

// A key goes into the client's files and command lines as it is.
void read_key(Account& account, const XmlElement& element) {
  account.key = element.text(kMaxAuthenticator);
  bool is_key = !account.key.empty() &&
                std::all_of(account.key.begin(), account.key.end(), [](char c) {
                  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') ||
                         (c >= 'A' && c <= 'Z');
                });
  if (!is_key) element.refuse("letters and digits");
}

constexpr Field<Account> kAccount[] = {{"authenticator", read_key, 1}};

struct Refusal {
  std::int32_t number = 0;
  std::string text;
};

constexpr Field<Refusal> kRefusal[] = {
    {"error_num", signed_integer<&Refusal::number>},
    {"error_msg", cut_text<&Refusal::text, kMaxWords>}};

}  // namespace

std::string parse_account_reply(ByteView bytes) {
  // Decides only as what the whole is read.
  if (as_text(bytes).find("<error>") == std::string_view::npos) {
    XmlDocument document(bytes, kMessage, "account_out");
    return read_as(document.root(), kAccount).key;
  }
  XmlDocument document(bytes, kMessage, "error");
  Refusal refusal = read_as(document.root(), kRefusal);
  throw Error(ErrorKind::denied,
              fmt::format("create an account: the project says: {} (BOINC's "
                          "error {}): ask the project",
                          refusal.text, refusal.number));
}

}  // namespace quorate::boinc

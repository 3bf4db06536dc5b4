#include "protocol/transfer/statement.h"

#include <fmt/format.h>

#include "base/error.h"
#include "protocol/transfer/refusal.h"
#include "workunits/sealed.h"

namespace quorate {
namespace {

constexpr Seconds kRequestTime{20};
constexpr std::size_t kMostStatementBytes = 128 * 1024;

}  // namespace

Bytes fetch_statement(Transfer& transfer, const std::stop_token& stop) {
  HttpRequest request;
  request.path = "/v1/project";
  request.timeout = kRequestTime;
  HttpReply reply = transfer.send(request, stop);
  if (reply.status != 200) throw_refusal(reply, "fetch the project statement");
  ByteView bytes = as_bytes(reply.body);
  return Bytes(bytes.begin(), bytes.end());
}

protocol::ProjectStatement open_statement(ByteView sealed) {
  if (sealed.size() <= kSealBytes || sealed.size() > kMostStatementBytes) {
    throw Error(ErrorKind::corrupt,
                fmt::format("project statement: the {} bytes are not a sealed "
                            "statement: is this the address of a project?",
                            sealed.size()));
  }
  const ByteView payload = sealed.first(sealed.size() - kSealBytes);
  protocol::ProjectStatement statement =
      protocol::parse_project_statement(payload);
  open_sealed(sealed, SealKind::project, statement.keys.project,
              statement.keys.current().key, "project statement");
  return statement;
}

std::string against_clock(const protocol::ProjectStatement& statement,
                          Millis unix_ms) {
  if (statement.expires != 0 && statement.expires <= unix_ms) {
    return "the statement has run out: somebody may be showing an old one, or "
           "this computer's clock is wrong";
  }
  if (!speaks(statement.keys.current(), unix_ms)) {
    return "the time of the project's key is over: its operator must renew it, "
           "or this computer's clock is wrong";
  }
  return "";
}

CurlOptions curl_options(const std::string& url,
                         const protocol::ProjectStatement& statement) {
  CurlOptions options;
  options.base_url = url;
  if (!statement.tls_pin.empty()) {
    // libcurl takes anything else for the name of a file.
    if (!statement.tls_pin.starts_with("sha256//")) {
      throw Error(ErrorKind::corrupt,
                  "project statement: its TLS pin is not \"sha256//...\"");
    }
    options.trust = TlsTrust::pinned;
    options.pin = statement.tls_pin;
  }
  return options;
}

}  // namespace quorate

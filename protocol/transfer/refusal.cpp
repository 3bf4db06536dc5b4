#include "protocol/transfer/refusal.h"

#include <algorithm>

#include <fmt/format.h>

#include "protocol/native/messages.h"

namespace quorate {
namespace {

// Whoever stands between us and a project may say anything, and must not
// silence us for good.
constexpr Seconds kLongestPause{24 * 3600.0};

}  // namespace

bool is_temporary(int status) {
  return status >= 500 || status == 408 || status == 429;
}

Refusal read_refusal(const HttpReply& reply) {
  Refusal refusal;
  refusal.retry_after = std::min(reply.retry_after, kLongestPause);
  refusal.message = fmt::format("HTTP status {}", reply.status);
  if (reply.body.empty() || reply.body.front() != '{') return refusal;
  try {
    protocol::ErrorReply error =
        protocol::parse_error_reply(as_bytes(reply.body));
    for (ErrorKind kind :
         {ErrorKind::unavailable, ErrorKind::corrupt, ErrorKind::denied,
          ErrorKind::unsupported, ErrorKind::usage}) {
      if (error.kind == name_of(kind)) refusal.kind = kind;
    }
    refusal.message = std::move(error.message);
    refusal.retry_after = std::max(refusal.retry_after, error.retry_after);
  } catch (const Error&) {
    // The status says enough.
  }
  refusal.retry_after = std::min(refusal.retry_after, kLongestPause);
  return refusal;
}

void throw_refusal(const HttpReply& reply, const std::string& tried) {
  Refusal refusal = read_refusal(reply);
  ErrorKind kind =
      is_temporary(reply.status) ? ErrorKind::unavailable : refusal.kind;
  throw Error(kind,
              fmt::format("{}: the server says: {}", tried, refusal.message));
}

}  // namespace quorate

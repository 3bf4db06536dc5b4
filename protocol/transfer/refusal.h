// What a server's refusal says.
#pragma once

#include <string>

#include "base/error.h"
#include "protocol/transfer/transfer.h"

namespace quorate {

// Worth another attempt: overload, a server that is starting.
bool is_temporary(int status);

struct Refusal {
  ErrorKind kind = ErrorKind::denied;
  std::string message;
  Seconds retry_after{0};
};
// Of a body that is no ErrorReply the status is left.
Refusal read_refusal(const HttpReply& reply);

// Throws what a reply of status 300 or more means. tried: "report result 7".
[[noreturn]] void throw_refusal(const HttpReply& reply,
                                const std::string& tried);

}  // namespace quorate

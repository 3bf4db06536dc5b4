#include "server/doors/refusals.h"

#include <cmath>

#include <fmt/format.h>

#include "base/error.h"

namespace quorate {

std::string banned_text(const Host& host) {
  return "this host is banned from the project: " + host.mark_reason +
         ": ask its operator";
}

std::string crowded_text(std::string_view what, Seconds wait) {
  return fmt::format("{}: too many from this address: try again in {:.0f} s",
                     what, std::ceil(wait.count()));
}

Response crowded_response(std::string_view what, Seconds wait) {
  return error_response(429, ErrorKind::unavailable, crowded_text(what, wait),
                        wait);
}

}  // namespace quorate

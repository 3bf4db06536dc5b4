#include "base/error.h"

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace quorate {

std::string_view name_of(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::unavailable:
      return "unavailable";
    case ErrorKind::corrupt:
      return "corrupt";
    case ErrorKind::denied:
      return "denied";
    case ErrorKind::unsupported:
      return "unsupported";
    case ErrorKind::usage:
      return "usage";
    case ErrorKind::io:
      return "io";
  }
  return "unknown";
}

void check(bool condition, const char* why) {
  if (condition) return;
  std::fprintf(stderr, "quorate: broken invariant: %s\n", why);
  std::abort();
}

void throw_errno(const std::string& what) {
  throw Error(ErrorKind::io, what + ": " + std::strerror(errno));
}

}  // namespace quorate

// What a failure means to its caller. One exception type; its kind decides
// what happens next. See docs/architecture.md, "Errors".
#pragma once

#include <stdexcept>
#include <string>
#include <string_view>

namespace quorate {

enum class ErrorKind {
  unavailable,  // try later: network, busy database, server down
  corrupt,      // bytes, a hash or a signature are wrong: reject this one
  denied,       // not allowed, or over a limit
  unsupported,  // this device, version or operation cannot
  usage,        // the person asked for something that makes no sense
  io,           // disk, memory or database lost: log and exit
};

std::string_view name_of(ErrorKind kind);

// what() says what was attempted, on what, what was found and, where a person
// reads it, what to do: `snapshot 41: tensor "wte": expected 4 floats, file
// has 3`.
class Error : public std::runtime_error {
 public:
  Error(ErrorKind kind, const std::string& what)
      : std::runtime_error(what), kind_(kind) {}

  ErrorKind kind() const { return kind_; }

 private:
  ErrorKind kind_;
};

// A broken invariant is a bug of ours: prints `why` and aborts, in every
// build. No outside input may reach it.
void check(bool condition, const char* why);

// Throws io with the text of errno after `what`.
[[noreturn]] void throw_errno(const std::string& what);

}  // namespace quorate

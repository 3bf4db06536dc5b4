#include "server/cli/support/password.h"

#include <cstdio>
#include <iostream>

#include <fmt/format.h>
#include <unistd.h>

#include "base/error.h"
#include "base/file.h"
#include "server/web/web_operators.h"

#include <termios.h>

namespace quorate {
namespace {

// The terminal shows nothing of what is typed, for as long as this lives.
class Unseen {
 public:
  Unseen() {
    ::tcgetattr(STDIN_FILENO, &before_);
    termios now = before_;
    now.c_lflag &= ~static_cast<tcflag_t>(ECHO);
    ::tcsetattr(STDIN_FILENO, TCSAFLUSH, &now);
  }
  ~Unseen() {
    ::tcsetattr(STDIN_FILENO, TCSAFLUSH, &before_);
    fmt::print(stderr, "\n");
  }
  Unseen(const Unseen&) = delete;
  Unseen& operator=(const Unseen&) = delete;

 private:
  termios before_{};
};

std::string typed(const char* prompt) {
  fmt::print(stderr, "{}: ", prompt);
  std::fflush(stderr);
  const Unseen unseen;
  std::string line;
  std::getline(std::cin, line);
  return line;
}

std::string asked(const std::string& what) {
  if (::isatty(STDIN_FILENO) == 0) {
    throw Error(ErrorKind::usage,
                fmt::format("{}: there is no terminal to ask for a password "
                            "on: write it to a file and say --password-file",
                            what));
  }
  const std::string password = typed("New password");
  if (typed("Again") == password) return password;
  throw Error(ErrorKind::usage,
              fmt::format("{}: the two differ: nothing was changed", what));
}

std::string first_line(const std::string& file) {
  constexpr std::uint64_t kMost = 4096;
  const std::string text = read_text_file(file, kMost);
  return text.substr(0, text.find_first_of("\r\n"));
}

}  // namespace

std::string new_password(const std::string& what, const std::string& file) {
  std::string password = file.empty() ? asked(what) : first_line(file);
  if (password.size() >= kLeastPasswordBytes &&
      password.size() <= kMostPasswordBytes) {
    return password;
  }
  throw Error(ErrorKind::usage,
              fmt::format("{}: a password has {} to {} bytes, this has {}: "
                          "nothing was changed",
                          what, kLeastPasswordBytes, kMostPasswordBytes,
                          password.size()));
}

}  // namespace quorate

#include "server/cli/support/confirm.h"

#include <cstdio>
#include <iostream>

#include <fmt/format.h>
#include <unistd.h>

#include "base/error.h"
#include "base/text.h"

namespace quorate {
namespace {

// To standard error: standard output is what the command was asked for.
bool asks_and_hears_yes(const std::string& warning) {
  say(stderr, "{} Type yes to go on: ", warning);
  std::fflush(stderr);
  std::string answer;
  std::getline(std::cin, answer);
  return answer == "yes" || answer == "y";
}

}  // namespace

void confirm(bool is_sure, const std::string& what,
             const std::string& warning) {
  if (is_sure) return;
  if (::isatty(STDIN_FILENO) == 0) {
    throw Error(ErrorKind::usage,
                fmt::format("{}: {} Nothing was changed. There is no terminal "
                            "to ask on: repeat it with --yes if you are sure",
                            what, warning));
  }
  if (!asks_and_hears_yes(warning)) {
    throw Error(ErrorKind::usage, what + ": nothing was changed");
  }
}

}  // namespace quorate

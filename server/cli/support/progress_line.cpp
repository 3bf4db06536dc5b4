#include "server/cli/support/progress_line.h"

#include <fmt/format.h>
#include <unistd.h>

#include "base/text.h"

namespace quorate {
namespace {

constexpr Seconds kEachLine{10};

}  // namespace

ProgressLine::ProgressLine() : is_terminal_(::isatty(STDERR_FILENO) != 0) {}

ProgressLine::~ProgressLine() {
  write("");
}

void ProgressLine::show(const std::string& what, std::uint64_t done,
                        std::uint64_t all) {
  write(fmt::format("{}: {} %", what, all == 0 ? 100 : 100 * done / all));
}

void ProgressLine::write(const std::string& text) {
  if (text == shown_) return;
  if (is_terminal_) {
    fmt::print(stderr, "\r{:<{}}\r{}", "", shown_.size(), shown_text(text));
  } else {
    if (text.empty() || clock_.now() - written_at_ < kEachLine) return;
    say(stderr, "{}\n", text);
    written_at_ = clock_.now();
  }
  shown_ = text;
}

}  // namespace quorate

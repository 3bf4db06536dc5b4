#include "server/cli/support/progress_line.h"

#include <fmt/format.h>
#include <unistd.h>

namespace quorate {

ProgressLine::ProgressLine() : is_terminal_(::isatty(STDERR_FILENO) != 0) {}

ProgressLine::~ProgressLine() {
  write("");
}

void ProgressLine::show(const std::string& what, std::uint64_t done,
                        std::uint64_t all) {
  write(fmt::format("{}: {} %", what, all == 0 ? 100 : 100 * done / all));
}

void ProgressLine::write(const std::string& text) {
  if (!is_terminal_ || text == shown_) return;
  fmt::print(stderr, "\r{:<{}}\r{}", "", shown_.size(), text);
  shown_ = text;
}

}  // namespace quorate

// `quorate-client ui`: serves the local page until told to leave.
#pragma once

#include <atomic>
#include <cstdint>

#include "base/file.h"

namespace quorate::client {

struct UiOptions {
  std::uint16_t port = 0;    // 0: any free one
  bool should_open = false;  // in the browser, with xdg-open
  bool as_json = false;      // what is printed
};

// Listens on 127.0.0.1 and prints the address. Throws io if it cannot.
void serve_ui(const fs::path& dir, const UiOptions& options,
              const std::atomic<bool>& should_leave);

}  // namespace quorate::client

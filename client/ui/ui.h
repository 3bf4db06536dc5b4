// `quorate-client ui`: serves the local page until told to leave.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>

#include "base/file.h"

namespace quorate::client {

struct UiOptions {
  std::uint16_t port = 0;     // 0: any free one
  bool should_open = false;   // in the browser, with xdg-open
  bool as_json = false;       // what is printed
  std::string link;           // to a project that the page offers to join
  bool until_closed = false;  // ends when nobody has looked for some minutes
};

// Opens the page in the browser, through a file in that private folder: the
// browser's command line, which everybody on this machine can read, does not
// show the address. Returns the file.
fs::path open_in_browser(const fs::path& folder, const std::string& url);

// Listens on 127.0.0.1 and prints the address. Throws io if it cannot.
void serve_ui(const fs::path& dir, const UiOptions& options,
              const std::atomic<bool>& should_leave);

}  // namespace quorate::client

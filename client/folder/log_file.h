// The agent's log as `quorate-client log` shows it: client.log, and
// client.1.log with what came before (base/log.h).
#pragma once

#include <cstdint>
#include <string>

#include "base/file.h"

namespace quorate::client {

inline constexpr std::size_t kLogBytes = 1 << 20;  // of each of the two

// Reads from where it stood the last time, over a rotation. Bytes that only a
// half-written line has are left for the next time.
class LogReader {
 public:
  explicit LogReader(fs::path folder) : folder_(std::move(folder)) {}

  // Whether anything was ever logged here.
  bool exists() const;
  // The last `lines` lines; from here on, more() goes on. Empty when there is
  // no log yet. Throws io.
  std::string last(std::size_t lines);
  // Whole lines that were written since.
  std::string more();

 private:
  std::string take(const fs::path& file);

  fs::path folder_;
  std::uint64_t inode_ = 0;  // of client.log when it was last read
  std::uint64_t offset_ = 0;
};

// client.log of a data folder.
fs::path log_file(const fs::path& folder);

}  // namespace quorate::client

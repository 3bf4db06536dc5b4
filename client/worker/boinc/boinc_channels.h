// The file that a BOINC client shares with each task that it runs: 8 channels
// of 1024 bytes, a flag and one text that ends in a zero byte. The sender fills
// an empty channel, text first, flag last; the receiver empties it. The texts:
// protocol/boinc/app_messages.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/file.h"

namespace quorate::worker {

// Two that serve graphics and one without use have no name.
enum class BoincChannel {
  orders = 0,     // from the client: see ProcessOrders
  heartbeat = 4,  // from the client, every second
  status = 5,     // to the client: AppStatus
  news = 6,       // to the client: there is a message for the project
  answers = 7,    // from the client: there is one of the project
};

class BoincChannels {
 public:
  static constexpr std::size_t kChannels = 8;
  static constexpr std::size_t kChannelBytes = 1024;
  static constexpr std::size_t kBytes = kChannels * kChannelBytes;

  // Maps the file. Throws io unless it is there and has kBytes.
  explicit BoincChannels(const fs::path& path);
  ~BoincChannels();
  BoincChannels(const BoincChannels&) = delete;
  BoincChannels& operator=(const BoincChannels&) = delete;

  // Puts a text of under kChannelBytes - 1 bytes; false if the last one was not
  // yet taken.
  bool send(BoincChannel channel, std::string_view text);
  // Takes the text, if there is one.
  std::optional<std::string> receive(BoincChannel channel);

 private:
  std::uint8_t* at(BoincChannel channel) const {
    return memory_ + static_cast<std::size_t>(channel) * kChannelBytes;
  }

  std::uint8_t* memory_ = nullptr;
};

}  // namespace quorate::worker

#include "client/worker/boinc/boinc_channels.h"

#include <algorithm>
#include <atomic>

#include <fcntl.h>
#include <sys/mman.h>

#include "base/error.h"

namespace quorate::worker {

BoincChannels::BoincChannels(const fs::path& path) {
  FileDescriptor file = open_file(path, O_RDWR);
  std::error_code failed;
  if (fs::file_size(path, failed) < kBytes || failed) {
    throw Error(ErrorKind::io, "BOINC's channels " + path.string() +
                                   ": expected " + std::to_string(kBytes) +
                                   " bytes, found fewer");
  }
  void* memory = ::mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_SHARED,
                        file.get(), 0);
  if (memory == MAP_FAILED) throw_errno("map " + path.string());
  memory_ = static_cast<std::uint8_t*>(memory);
}

BoincChannels::~BoincChannels() {
  ::munmap(memory_, kBytes);
}

bool BoincChannels::send(BoincChannel channel, std::string_view text) {
  check(text.size() < kChannelBytes - 1, "a text fits into a channel");
  std::uint8_t* begin = at(channel);
  std::atomic_ref<std::uint8_t> flag(*begin);
  if (flag.load(std::memory_order_acquire) != 0) return false;
  *std::copy(text.begin(), text.end(), begin + 1) = 0;
  flag.store(1, std::memory_order_release);
  return true;
}

std::optional<std::string> BoincChannels::receive(BoincChannel channel) {
  std::uint8_t* begin = at(channel);
  std::atomic_ref<std::uint8_t> flag(*begin);
  if (flag.load(std::memory_order_acquire) == 0) return std::nullopt;
  std::string text(begin + 1, std::find(begin + 1, begin + kChannelBytes, 0));
  flag.store(0, std::memory_order_release);
  return text;
}

}  // namespace quorate::worker

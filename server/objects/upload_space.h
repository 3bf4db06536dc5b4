// Disk space that uploads have announced but not yet written: to others it is
// taken already. Hosts that are not proven are refused first: however many of
// them there are, those who are proven still have a reserve's worth.
// Thread-safe.
#pragma once

#include <cstdint>
#include <mutex>
#include <optional>
#include <utility>

namespace quorate {

class UploadSpace {
 public:
  // What one upload has still to write; gives it back when destroyed.
  class Claim {
   public:
    Claim(UploadSpace& space, std::uint64_t bytes)
        : space_(&space), bytes_(bytes) {}
    Claim(Claim&& other) noexcept;
    Claim& operator=(Claim&& other) noexcept {
      std::swap(space_, other.space_);
      std::swap(bytes_, other.bytes_);
      return *this;
    }
    ~Claim();

    // So many bytes are on the disk now.
    void written(std::uint64_t bytes);

   private:
    UploadSpace* space_;
    std::uint64_t bytes_;
  };

  explicit UploadSpace(std::uint64_t reserve_bytes) : reserve_(reserve_bytes) {}

  // nullopt if the disk, which has `free` bytes left, would then have less
  // than the reserve; for a host that is not proven, less than twice that.
  // 0 bytes may be claimed: to ask whether the disk is full.
  std::optional<Claim> claim(std::uint64_t bytes, std::uint64_t free,
                             bool is_proven);
  // Whether a claim was refused since the last call.
  bool take_refusal();

 private:
  void give_back(std::uint64_t bytes);

  const std::uint64_t reserve_;
  std::mutex mutex_;
  std::uint64_t claimed_ = 0;
  bool was_refused_ = false;
};

}  // namespace quorate

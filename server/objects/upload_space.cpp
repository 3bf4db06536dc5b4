#include "server/objects/upload_space.h"

#include <algorithm>
#include <utility>

namespace quorate {

UploadSpace::Claim::Claim(Claim&& other) noexcept
    : space_(std::exchange(other.space_, nullptr)), bytes_(other.bytes_) {}

UploadSpace::Claim::~Claim() {
  if (space_) space_->give_back(bytes_);
}

void UploadSpace::Claim::written(std::uint64_t bytes) {
  std::uint64_t done = std::min(bytes, bytes_);
  bytes_ -= done;
  space_->give_back(done);
}

std::optional<UploadSpace::Claim> UploadSpace::claim(std::uint64_t bytes,
                                                     std::uint64_t free,
                                                     bool is_proven) {
  std::lock_guard lock(mutex_);
  std::uint64_t taken = (is_proven ? reserve_ : 2 * reserve_) + claimed_;
  if (free < taken || free - taken < bytes) {
    was_refused_ = true;
    return std::nullopt;
  }
  claimed_ += bytes;
  return std::optional<Claim>(std::in_place, *this, bytes);
}

bool UploadSpace::take_refusal() {
  std::lock_guard lock(mutex_);
  return std::exchange(was_refused_, false);
}

void UploadSpace::give_back(std::uint64_t bytes) {
  std::lock_guard lock(mutex_);
  claimed_ -= bytes;
}

}  // namespace quorate

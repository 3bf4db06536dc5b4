// A file's bytes in parts, one after another, some of which lie elsewhere: what
// is large need not be copied to be hashed or written.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/bytes.h"
#include "base/crypto.h"

namespace quorate {

class ByteParts {
 public:
  ByteParts() = default;
  // They must outlive this.
  explicit ByteParts(ByteView bytes) { add_view(bytes); }
  ByteParts(ByteParts&&) noexcept = default;
  ByteParts& operator=(ByteParts&&) noexcept = default;

  void add(Bytes bytes);
  // They must outlive this.
  void add_view(ByteView bytes) { parts_.push_back(bytes); }

  std::span<const ByteView> parts() const { return parts_; }
  std::uint64_t size() const;
  Hash hash() const;
  Bytes joined() const;

 private:
  std::vector<Bytes> own_;  // moving one does not move its bytes
  std::vector<ByteView> parts_;
};

}  // namespace quorate

// Values for all parameters of a model, or changes of them, that are read a
// block at a time and never changed: in memory, or where they lie in a mapped
// file, as they are or encoded. So those of a big model cost no memory of their
// own; of a round of updates either.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "base/file.h"

namespace quorate {

// Of values that are encoded. Used by several threads.
class BlockDecoder {
 public:
  virtual ~BlockDecoder() = default;
  virtual std::size_t size() const = 0;
  // Elements [first, first + out.size()).
  virtual void decode(std::size_t first, std::span<float> out) const = 0;
};

class ParameterValues {
 public:
  ParameterValues() = default;
  // Not explicit: what was computed is read like what was mapped.
  ParameterValues(std::vector<float> values)
      : in_memory_(std::move(values)), values_(in_memory_) {}
  // data: of the file's bytes, whole floats, and not to be changed by anyone.
  // Copied if that is little or not where a float may lie.
  ParameterValues(MappedFile file, ByteView data);
  explicit ParameterValues(std::unique_ptr<BlockDecoder> decoder)
      : decoder_(std::move(decoder)) {}
  ParameterValues(ParameterValues&&) noexcept = default;
  ParameterValues& operator=(ParameterValues&&) noexcept = default;

  std::size_t size() const {
    return decoder_ ? decoder_->size() : all().size();
  }
  // Elements [first, first + count): where they lie, or decoded into `room`,
  // which is made as large as they need.
  std::span<const float> block(std::size_t first, std::size_t count,
                               std::vector<float>& room) const;
  // All of them; not if they are encoded.
  std::span<const float> all() const { return values_; }

 private:
  std::vector<float> in_memory_;
  MappedFile file_;
  std::span<const float> values_;  // of either, which stay where they are
  std::unique_ptr<BlockDecoder> decoder_;
};

// Files with less than so many bytes of values are sooner read than mapped; and
// a process can have 65,530 maps, which a round of many small updates would
// need.
inline constexpr std::size_t kLeastMapped = 1 << 20;

}  // namespace quorate

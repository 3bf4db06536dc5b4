#include "workunits/objects/parameter_values.h"

#include <cstdint>
#include <cstring>

namespace quorate {
namespace {

bool is_aligned(ByteView data) {
  return reinterpret_cast<std::uintptr_t>(data.data()) % alignof(float) == 0;
}

}  // namespace

ParameterValues::ParameterValues(MappedFile file, ByteView data) {
  const std::size_t count = data.size() / sizeof(float);
  if (data.size() < kLeastMapped || !is_aligned(data)) {
    in_memory_.resize(count);
    if (count != 0) std::memcpy(in_memory_.data(), data.data(), data.size());
    values_ = in_memory_;
    return;
  }
  file_ = std::move(file);
  values_ = {reinterpret_cast<const float*>(data.data()), count};
}

std::span<const float> ParameterValues::block(std::size_t first,
                                              std::size_t count,
                                              std::vector<float>& room) const {
  if (!decoder_) return values_.subspan(first, count);
  room.resize(count);
  decoder_->decode(first, room);
  return room;
}

}  // namespace quorate

#include "workunits/objects/byte_parts.h"

#include <utility>

namespace quorate {

void ByteParts::add(Bytes bytes) {
  own_.push_back(std::move(bytes));
  add_view(own_.back());
}

std::uint64_t ByteParts::size() const {
  std::uint64_t sum = 0;
  for (ByteView part : parts_) sum += part.size();
  return sum;
}

Hash ByteParts::hash() const {
  Sha256 sha256;
  for (ByteView part : parts_) sha256.update(part);
  return sha256.finish();
}

Bytes ByteParts::joined() const {
  Bytes out;
  out.reserve(size());
  for (ByteView part : parts_) out.insert(out.end(), part.begin(), part.end());
  return out;
}

}  // namespace quorate

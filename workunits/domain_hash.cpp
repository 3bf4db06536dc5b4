#include "workunits/domain_hash.h"

#include <array>

namespace quorate {

Hash domain_hash(std::string_view domain,
                 std::initializer_list<ByteView> parts) {
  Sha256 digest;
  digest.update(as_bytes(domain));
  digest.update(std::array<std::uint8_t, 1>{0});
  for (ByteView part : parts) digest.update(part);
  return digest.finish();
}

}  // namespace quorate

// Hashes that cannot be taken for one another: each begins with what it is for.
#pragma once

#include <initializer_list>
#include <string_view>

#include "base/bytes.h"
#include "base/crypto.h"

namespace quorate {

// SHA-256(domain, a zero byte, the parts one after another). Parts of variable
// length must be last, or be preceded by their length.
Hash domain_hash(std::string_view domain,
                 std::initializer_list<ByteView> parts);

}  // namespace quorate

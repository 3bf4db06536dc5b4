// Who is behind a proxy that writes X-Forwarded-For.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "server/http/clients/ip_address.h"

namespace quorate {

// The client of a request that came from `proxy`, which is trusted.
// list: all values of X-Forwarded-For in their order, with commas between them:
// each proxy adds, at its end, the address that it was asked from. So the
// client is the last address that is no trusted proxy's; what stands before it
// is what the client says of itself, and nobody believes it. `proxy` if there
// is no such address, or if something that is none stands after it.
std::string forwarded_address(std::string_view list, const std::string& proxy,
                              const std::vector<IpBlock>& trusted);

}  // namespace quorate

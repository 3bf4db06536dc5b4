// What hosts and people hear when they are refused, through either door.
#pragma once

#include <string>
#include <string_view>

#include "server/http/message.h"
#include "workunits/host.h"

namespace quorate {

// Before who was refused asks again: somebody has to do something first, as to
// pardon a host.
inline constexpr Seconds kRefusedRetry{3600};

std::string banned_text(const Host& host);

// Too many of something have come from one address; see JoinLimit. what: that
// come too often.
std::string crowded_text(std::string_view what, Seconds wait);
Response crowded_response(std::string_view what, Seconds wait);

}  // namespace quorate

// Names that volunteers may not have.
#pragma once

#include <string_view>

namespace quorate {

// Whether people would take it for the server's own workers: "House Workers",
// "house-worker", or the same with letters of other scripts that look alike.
bool is_reserved_name(std::string_view name);

}  // namespace quorate

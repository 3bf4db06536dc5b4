// How the store in memory refuses a change.
//
// SQLite refuses by its constraints; these texts take their place, so both
// stores throw the same kind for the same fault.
#pragma once

#include <string>
#include <utility>

#include <fmt/format.h>

#include "base/error.h"

namespace quorate {

// Throws corrupt: the change contradicts what is stored. The caller rolls back.
// why: what was found, with its ids.
// The message begins with "store in memory".
template <class... Values>
[[noreturn]] void refuse(fmt::format_string<Values...> why,
                         Values&&... values) {
  throw Error(
      ErrorKind::corrupt,
      "store in memory: " + fmt::format(why, std::forward<Values>(values)...));
}

}  // namespace quorate

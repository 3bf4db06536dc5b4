// How the store in memory refuses a change.
#pragma once

#include <string>
#include <utility>

#include <fmt/format.h>

#include "base/error.h"

namespace quorate {

// Throws corrupt: the change contradicts what is stored.
template <class... Values>
[[noreturn]] void refuse(fmt::format_string<Values...> why,
                         Values&&... values) {
  throw Error(
      ErrorKind::corrupt,
      "store in memory: " + fmt::format(why, std::forward<Values>(values)...));
}

}  // namespace quorate

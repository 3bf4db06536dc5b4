// Asks before what cannot be undone.
#pragma once

#include <string>

namespace quorate {

// Returns if the operator says yes: by --yes (is_sure), or when asked on a
// terminal. Throws usage, saying that nothing was changed, if not; also where
// there is no terminal to ask on. what: "result revoke 5"; warning: a sentence,
// what cannot be undone.
void confirm(bool is_sure, const std::string& what, const std::string& warning);

}  // namespace quorate

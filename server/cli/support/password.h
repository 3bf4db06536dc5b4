// A new password, from whoever makes an account.
#pragma once

#include <string>

namespace quorate {

// The first line of `file`; or, if that is empty, asked for on the terminal,
// twice and without showing it. Throws usage if there is neither, if the two
// differ, or if it is too short or too long to be a password. what: "operators
// web anna".
std::string new_password(const std::string& what, const std::string& file);

}  // namespace quorate

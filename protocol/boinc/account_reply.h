// What a project answers to create_account.php: read by our own client when it
// attaches a BOINC client.
#pragma once

#include <string>

#include "base/bytes.h"

namespace quorate::boinc {

// The account's key. Throws denied, in the project's words, when it made no
// account; corrupt when the answer is none, or its key not one of up to 64
// letters and digits.
std::string parse_account_reply(ByteView bytes);

}  // namespace quorate::boinc

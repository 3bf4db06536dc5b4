// What answers at /boinc/ of a project without a code-sign key. BOINC clients
// run whatever that key signs, so nobody but the operator has one made, who
// then knows of it and where it lies.
#pragma once

#include "server/http/router.h"

namespace quorate::boinc {

// Wherever a client or a person comes first: 503, with what the operator would
// type to open the door.
void add_closed_door(Router& router);

}  // namespace quorate::boinc

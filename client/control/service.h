// The caller's end of the control socket: has this computer's service do a
// command.
#pragma once

#include <functional>
#include <span>
#include <string>

#include "base/file.h"

namespace quorate::client {

// $QUORATE_CONTROL, else /run/quorate-client/control.sock.
fs::path control_socket();

// Whether a service listens there, so that commands can go to it.
bool is_service_there(const fs::path& socket);

// Prints what the service's command prints and returns its exit code. seen:
// gets the output, too. Throws unavailable when the service is not there or
// ends meanwhile.
int command_service(const fs::path& socket,
                    std::span<const std::string> arguments,
                    const std::function<void(const std::string&)>& seen = {});

}  // namespace quorate::client

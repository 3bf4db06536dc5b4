// Who may command the service of this computer, and what.
#pragma once

#include <cstdint>
#include <span>
#include <string>

namespace quorate::client {

enum class Authority {
  look,  // anybody: see what it does
  full,  // root, the service's own user, and who sits at this computer
};

// Pure. has_seat: they have a session at a screen of this computer, and it is
// the one that is shown.
Authority authority_of(std::uint32_t user, std::uint32_t own, bool has_seat);

// Asks systemd's logind. False where there is none.
bool has_seat(std::uint32_t user);

// Whether a command can be done by a service at all, and is worth asking: one
// that neither reads nor writes a file of the person who types it. arguments:
// without the program's name.
bool is_for_service(std::span<const std::string> arguments);

// Why the service does not do it for them; empty: it does. Pure.
std::string against_command(std::span<const std::string> arguments,
                            Authority authority);

}  // namespace quorate::client

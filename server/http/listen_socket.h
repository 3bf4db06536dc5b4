// Sockets that listen. Internal to server/http.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <sys/socket.h>

#include "base/file.h"

namespace quorate {

// `count` sockets that share one address and port (SO_REUSEPORT), so that
// every I/O thread accepts on its own; the kernel spreads the connections.
struct TcpSockets {
  std::vector<FileDescriptor> sockets;
  std::uint16_t port = 0;
};

// address: "127.0.0.1", "::1", "0.0.0.0", or a name. port 0: any free one.
// Throws io if the port is taken or the address is not this machine's, usage
// if it is none.
TcpSockets listen_tcp(const std::string& address, std::uint16_t port,
                      std::size_t count);

// Who may connect to a unix-domain socket.
enum class SocketUsers { owner, anybody };

// A unix-domain socket, by default one that only its owner may use. A file left
// over from a server that has ended is replaced; one in use throws io. A path
// of any length works, although the system's interface ends at 107 bytes.
FileDescriptor listen_unix(const fs::path& path,
                           SocketUsers users = SocketUsers::owner);

// The user whose process connected, as the kernel says; nullopt if it cannot.
std::optional<std::uint32_t> user_at(int socket);

// "192.0.2.1", "2001:db8::1", or "unix".
std::string text_of(const sockaddr_storage& address);

}  // namespace quorate

#include "server/http/listen_socket.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>

#include <arpa/inet.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/error.h"

#include <netdb.h>

namespace quorate {
namespace {

// How much the kernel may hold of what a client has not read: without a limit
// a thousand stalled readers cost 2 GB.
constexpr int kNotSentLowWater = 256 << 10;

struct FreeAddresses {
  void operator()(addrinfo* list) const { ::freeaddrinfo(list); }
};

struct Resolved {
  std::string text;  // for messages: "127.0.0.1:8470"
  sockaddr_storage address{};
  socklen_t size = 0;
};

Resolved resolve(const std::string& address, std::uint16_t port) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_PASSIVE | AI_NUMERICSERV;
  addrinfo* found = nullptr;
  int failed = ::getaddrinfo(address.c_str(), std::to_string(port).c_str(),
                             &hints, &found);
  std::unique_ptr<addrinfo, FreeAddresses> list(found);
  if (failed != 0 || !found) {
    throw Error(ErrorKind::usage,
                fmt::format("listening on \"{}\": {}: give an address of this "
                            "machine, for example 127.0.0.1",
                            address, ::gai_strerror(failed)));
  }
  Resolved place{fmt::format("{}:{}", address, port), {}, found->ai_addrlen};
  std::memcpy(&place.address, found->ai_addr, found->ai_addrlen);
  return place;
}

[[noreturn]] void throw_listen(const Resolved& place) {
  const char* advice = "";
  if (errno == EADDRINUSE) {
    advice = ": stop the program that uses this port, or choose another port";
  } else if (errno == EADDRNOTAVAIL) {
    advice = ": give an address of this machine";
  } else if (errno == EACCES) {
    advice = ": choose a port over 1023";
  }
  throw Error(ErrorKind::io, fmt::format("listening on {}: {}{}", place.text,
                                         std::strerror(errno), advice));
}

void set_option(int fd, int level, int option, int value) {
  if (::setsockopt(fd, level, option, &value, sizeof value) != 0) {
    throw_errno("setting up a listening socket");
  }
}

FileDescriptor bound(const Resolved& place, bool is_shared) {
  FileDescriptor fd(::socket(place.address.ss_family,
                             SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (!fd) throw_listen(place);
  set_option(fd.get(), SOL_SOCKET, SO_REUSEADDR, 1);
  if (is_shared) set_option(fd.get(), SOL_SOCKET, SO_REUSEPORT, 1);
  if (::bind(fd.get(), reinterpret_cast<const sockaddr*>(&place.address),
             place.size) != 0) {
    throw_listen(place);
  }
  return fd;
}

std::uint16_t port_of(int fd) {
  sockaddr_storage address{};
  socklen_t size = sizeof address;
  if (::getsockname(fd, reinterpret_cast<sockaddr*>(&address), &size) != 0) {
    throw_errno("reading the port of a listening socket");
  }
  // The port stands at the same place in both families.
  return ntohs(reinterpret_cast<const sockaddr_in*>(&address)->sin_port);
}

sockaddr_un unix_address(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof address.sun_path) {
    throw Error(
        ErrorKind::usage,
        "listening on " + path +
            ": the file name is too long: choose one under 80 characters");
  }
  std::copy(path.begin(), path.end(), address.sun_path);
  return address;
}

template <class Call>
int call_with(Call call, int fd, const sockaddr_un& address) {
  return call(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address);
}

FileDescriptor unix_socket() {
  FileDescriptor fd(
      ::socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (!fd) throw_errno("opening a unix socket");
  return fd;
}

}  // namespace

TcpSockets listen_tcp(const std::string& address, std::uint16_t port,
                      std::size_t count) {
  Resolved place = resolve(address, port);
  // Sharing lets a second server of the same user take half the connections
  // without anybody noticing; a socket that does not share finds it.
  if (port != 0) bound(place, false);
  TcpSockets out;
  for (std::size_t i = 0; i < count; ++i) {
    FileDescriptor fd = bound(place, true);
    if (i == 0) {
      out.port = port_of(fd.get());
      place = resolve(address, out.port);
    }
    set_option(fd.get(), IPPROTO_TCP, TCP_NODELAY, 1);
    set_option(fd.get(), IPPROTO_TCP, TCP_NOTSENT_LOWAT, kNotSentLowWater);
    if (::listen(fd.get(), SOMAXCONN) != 0) throw_listen(place);
    out.sockets.push_back(std::move(fd));
  }
  return out;
}

FileDescriptor listen_unix(const fs::path& path, SocketUsers users) {
  // Through the folder's descriptor the name is short whatever the path.
  fs::path folder_path = path.parent_path().empty() ? "." : path.parent_path();
  FileDescriptor folder = open_file(folder_path, O_PATH | O_DIRECTORY);
  std::string name = path.filename().string();
  sockaddr_un address =
      unix_address(fmt::format("/proc/self/fd/{}/{}", folder.get(), name));
  if (call_with(::connect, unix_socket().get(), address) == 0 ||
      errno == EAGAIN) {
    throw Error(ErrorKind::io,
                "listening on " + path.string() +
                    ": another server uses it: stop that server first");
  }
  struct stat status {};
  if (::fstatat(folder.get(), name.c_str(), &status, AT_SYMLINK_NOFOLLOW) ==
          0 &&
      S_ISSOCK(status.st_mode)) {
    ::unlinkat(folder.get(), name.c_str(), 0);
  }
  FileDescriptor fd = unix_socket();
  // The file gets this mode when bind() creates it: nobody can come between.
  // The umask would take off what others may.
  if (::fchmod(fd.get(), 0600) != 0 ||
      call_with(::bind, fd.get(), address) != 0 ||
      (users == SocketUsers::anybody &&
       ::fchmodat(folder.get(), name.c_str(), 0666, 0) != 0) ||
      ::listen(fd.get(), SOMAXCONN) != 0) {
    throw_errno("listening on " + path.string());
  }
  return fd;
}

std::optional<std::uint32_t> user_at(int socket) {
  ucred peer{};
  socklen_t size = sizeof peer;
  if (::getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0) {
    return std::nullopt;
  }
  return peer.uid;
}

std::string text_of(const sockaddr_storage& address) {
  char text[INET6_ADDRSTRLEN] = "unix";
  if (address.ss_family == AF_INET) {
    const auto& v4 = reinterpret_cast<const sockaddr_in&>(address);
    ::inet_ntop(AF_INET, &v4.sin_addr, text, sizeof text);
  } else if (address.ss_family == AF_INET6) {
    const auto& v6 = reinterpret_cast<const sockaddr_in6&>(address);
    if (IN6_IS_ADDR_V4MAPPED(&v6.sin6_addr)) {
      ::inet_ntop(AF_INET, &v6.sin6_addr.s6_addr[12], text, sizeof text);
    } else {
      ::inet_ntop(AF_INET6, &v6.sin6_addr, text, sizeof text);
    }
  }
  return text;
}

}  // namespace quorate

#include "client/control/service.h"

#include <array>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <optional>

#include <fmt/format.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "base/error.h"
#include "client/control/frames.h"
#include "client/control/relayed_command.h"

namespace quorate::client {
namespace {

// nullopt: nobody listens there.
std::optional<FileDescriptor> connected(const fs::path& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  const std::string& name = path.native();
  if (name.size() >= sizeof address.sun_path) {
    throw Error(ErrorKind::usage,
                fmt::format("QUORATE_CONTROL: {}: expected a name of under {} "
                            "bytes",
                            name, sizeof address.sun_path));
  }
  name.copy(address.sun_path, name.size());
  FileDescriptor fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (!fd) throw_errno("open a socket");
  if (::connect(fd.get(), reinterpret_cast<const sockaddr*>(&address),
                sizeof address) != 0) {
    return std::nullopt;
  }
  return fd;
}

int code_of(const std::string& digits) {
  int code = 1;
  std::from_chars(digits.data(), digits.data() + digits.size(), code);
  return code;
}

// Prints a frame; the exit code of the last one.
std::optional<int> show(const Frame& frame,
                        const std::function<void(const std::string&)>& seen) {
  switch (frame.kind) {
    case FrameKind::output:
      std::fwrite(frame.bytes.data(), 1, frame.bytes.size(), stdout);
      std::fflush(stdout);
      if (seen) seen(frame.bytes);
      return std::nullopt;
    case FrameKind::error:
      std::fwrite(frame.bytes.data(), 1, frame.bytes.size(), stderr);
      return std::nullopt;
    case FrameKind::end:
      return code_of(frame.bytes);
    case FrameKind::argument:
    case FrameKind::run:
      break;
  }
  throw Error(ErrorKind::corrupt,
              "control socket: the service sent what only callers send");
}

}  // namespace

fs::path control_socket() {
  const char* chosen = std::getenv("QUORATE_CONTROL");
  return chosen != nullptr ? chosen : "/run/quorate-client/control.sock";
}

bool is_service_there(const fs::path& socket) {
  return connected(socket).has_value();
}

int command_service(const fs::path& socket,
                    std::span<const std::string> arguments,
                    const std::function<void(const std::string&)>& seen) {
  std::optional<FileDescriptor> service = connected(socket);
  std::string command;
  for (const std::string& argument : arguments) {
    if (argument.size() > kMostFrame) {
      throw Error(ErrorKind::usage,
                  fmt::format("an argument of {} bytes: expected at most {}",
                              argument.size(), kMostFrame));
    }
    command += encode_frame(FrameKind::argument, argument);
  }
  command += encode_frame(FrameKind::run, "");
  FrameReader reader;
  std::array<char, 4096> bytes;
  if (service && send_all(service->get(), command)) {
    while (true) {
      const ssize_t count =
          ::recv(service->get(), bytes.data(), bytes.size(), 0);
      if (count < 0 && errno == EINTR) continue;
      if (count <= 0) break;
      reader.take({bytes.data(), static_cast<std::size_t>(count)});
      while (const std::optional<Frame> frame = reader.next()) {
        if (const auto code = show(*frame, seen)) return *code;
      }
    }
  }
  throw Error(ErrorKind::unavailable,
              "the service of this computer does not answer: look at it with "
              "systemctl status quorate-client");
}

}  // namespace quorate::client

#include "client/control/control_door.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>

#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/error.h"
#include "base/log.h"
#include "client/control/authority.h"
#include "client/control/frames.h"
#include "client/control/relayed_command.h"
#include "server/http/listen_socket.h"

namespace quorate::client {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int kLookMs = 250;
constexpr std::chrono::seconds kPatience{5};  // for a command to be there
constexpr std::size_t kMostCalls = 16;
constexpr std::size_t kMostArguments = 64;

void say_no(int caller, const std::string& why) {
  send_all(caller,
           encode_frame(FrameKind::error, "quorate-client: " + why + "\n") +
               encode_frame(FrameKind::end, "1"));
}

// The command that a caller sends; empty if it hangs up, as one does that only
// looks whether somebody is there. Throws corrupt, or unavailable for one that
// takes too long.
std::vector<std::string> read_command(int caller, const std::stop_token& stop) {
  FrameReader reader;
  std::vector<std::string> arguments;
  const auto end = Clock::now() + kPatience;
  while (Clock::now() < end && !stop.stop_requested()) {
    while (const std::optional<Frame> frame = reader.next()) {
      if (frame->kind == FrameKind::run) return arguments;
      if (frame->kind != FrameKind::argument ||
          arguments.size() == kMostArguments ||
          frame->bytes.find('\0') != std::string::npos) {
        throw Error(ErrorKind::corrupt,
                    fmt::format("control socket: expected at most {} arguments "
                                "and then their end",
                                kMostArguments));
      }
      arguments.push_back(frame->bytes);
    }
    pollfd source{caller, POLLIN, 0};
    if (::poll(&source, 1, kLookMs) <= 0) continue;
    std::array<char, 4096> bytes;
    const ssize_t count =
        ::recv(caller, bytes.data(), bytes.size(), MSG_DONTWAIT);
    if (count == 0) return {};
    if (count > 0) {
      reader.take({bytes.data(), static_cast<std::size_t>(count)});
    }
  }
  throw Error(ErrorKind::unavailable, "control socket: no command came");
}

}  // namespace

ControlDoor::ControlDoor(ControlOptions options)
    : options_(std::move(options)),
      listener_(listen_unix(options_.socket, SocketUsers::anybody)),
      thread_([this](const std::stop_token& stop) { accept_calls(stop); }) {}

ControlDoor::~ControlDoor() {
  thread_.request_stop();
  thread_.join();
  calls_.clear();  // stops and joins each
  ::unlink(options_.socket.c_str());
}

void ControlDoor::accept_calls(const std::stop_token& stop) {
  while (!stop.stop_requested()) {
    calls_.remove_if([](const Call& call) { return call.is_over.load(); });
    pollfd source{listener_.get(), POLLIN, 0};
    if (::poll(&source, 1, kLookMs) <= 0) continue;
    FileDescriptor caller(
        ::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC));
    if (!caller) continue;
    if (calls_.size() == kMostCalls) {
      say_no(caller.get(), fmt::format("the service does {} commands already: "
                                       "try again in a moment",
                                       kMostCalls));
      continue;
    }
    Call& call = calls_.emplace_back();
    call.thread = std::jthread(
        [this, &call, fd = std::move(caller)](const std::stop_token& end) {
          answer(fd.get(), end);
          call.is_over = true;
        });
  }
}

void ControlDoor::answer(int caller, const std::stop_token& stop) {
  try {
    const std::vector<std::string> command = read_command(caller, stop);
    if (command.empty()) return;
    const std::optional<std::uint32_t> user = user_at(caller);
    const Authority authority =
        user ? authority_of(*user, ::geteuid(), has_seat(*user))
             : Authority::look;
    const std::string why = against_command(command, authority);
    if (command.front() != "status") {  // which desktops ask all the time
      log_info("command", {{"user", user.value_or(0)},
                           {"command", command.front()},
                           {"refused", !why.empty()}});
    }
    if (!why.empty()) return say_no(caller, why);
    std::vector<std::string> argv = options_.program;
    argv.insert(argv.end(), command.begin(), command.end());
    relay_command(argv, caller, stop);
  } catch (const std::exception& error) {
    log_warning("command_failed", {{"why", error.what()}});
    say_no(caller, error.what());
  }
}

}  // namespace quorate::client

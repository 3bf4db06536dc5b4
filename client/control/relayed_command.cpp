#include "client/control/relayed_command.h"

#include <array>
#include <cerrno>
#include <chrono>
#include <optional>

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/error.h"
#include "base/file.h"
#include "client/control/frames.h"

namespace quorate::client {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int kStopLookMs = 250;  // for `stop`
constexpr std::chrono::seconds kEndPatience{5};
constexpr int kReadPatienceMs = 30'000;

struct Pipe {
  FileDescriptor read;
  FileDescriptor write;
};

Pipe make_pipe() {
  int fds[2];
  if (::pipe2(fds, O_CLOEXEC) != 0) throw_errno("pipe");
  return {FileDescriptor(fds[0]), FileDescriptor(fds[1])};
}

// In the child between fork and exec: async-signal-safe calls only.
[[noreturn]] void become(char* const* argv, int nothing, int output, int errors,
                         pid_t parent) {
  ::dup2(nothing, STDIN_FILENO);
  ::dup2(output, STDOUT_FILENO);
  ::dup2(errors, STDERR_FILENO);
  ::prctl(PR_SET_PDEATHSIG, SIGTERM);
  if (::getppid() != parent) ::_exit(127);
  ::signal(SIGPIPE, SIG_DFL);
  ::setpgid(0, 0);
  ::close_range(STDERR_FILENO + 1, ~0U, CLOSE_RANGE_CLOEXEC);
  ::execv(argv[0], argv);
  ::_exit(127);
}

class Command {
 public:
  explicit Command(const std::vector<std::string>& argv) {
    std::vector<char*> words;
    for (const std::string& word : argv) {
      words.push_back(const_cast<char*>(word.c_str()));
    }
    words.push_back(nullptr);
    FileDescriptor nothing = open_file("/dev/null", O_RDONLY);
    Pipe output = make_pipe();
    Pipe errors = make_pipe();
    const pid_t parent = ::getpid();
    pid_ = ::fork();
    if (pid_ < 0) throw_errno("start " + argv.at(0));
    if (pid_ == 0) {
      become(words.data(), nothing.get(), output.write.get(),
             errors.write.get(), parent);
    }
    output_ = std::move(output.read);
    errors_ = std::move(errors.read);
  }
  ~Command() {
    if (pid_ <= 0) return;
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
  Command(const Command&) = delete;
  Command& operator=(const Command&) = delete;

  FileDescriptor& output() { return output_; }
  FileDescriptor& errors() { return errors_; }
  void send(int signal) const { ::kill(pid_, signal); }
  // Waits for its end.
  int exit_code() {
    int status = 0;
    while (::waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
    }
    pid_ = -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  }

 private:
  pid_t pid_ = -1;
  FileDescriptor output_;
  FileDescriptor errors_;
};

// What one side wrote goes to the caller. Closes `from` at its end; returns
// false when the caller is gone.
bool pass_on(FileDescriptor& from, FrameKind kind, int caller) {
  std::array<char, kMostFrame> bytes;
  const ssize_t count = ::read(from.get(), bytes.data(), bytes.size());
  if (count < 0 && errno == EINTR) return true;
  if (count <= 0) {
    from = FileDescriptor();
    return true;
  }
  return send_all(
      caller,
      encode_frame(kind, {bytes.data(), static_cast<std::size_t>(count)}));
}

// A caller says nothing more after its command: what can be read is its end.
bool has_hung_up(int caller) {
  char byte = 0;
  const ssize_t count = ::recv(caller, &byte, 1, MSG_DONTWAIT);
  return count == 0 || (count < 0 && errno != EAGAIN && errno != EINTR);
}

// Asks a command to end, once, and later makes it.
class Ending {
 public:
  void ask(const Command& command) {
    if (!since_) {
      since_ = Clock::now();
      command.send(SIGTERM);
    } else if (Clock::now() > *since_ + kEndPatience) {
      command.send(SIGKILL);
    }
  }

 private:
  std::optional<Clock::time_point> since_;
};

}  // namespace

bool send_all(int socket, const std::string& bytes) {
  std::size_t sent = 0;
  while (sent < bytes.size()) {
    const ssize_t count =
        ::send(socket, bytes.data() + sent, bytes.size() - sent,
               MSG_NOSIGNAL | MSG_DONTWAIT);
    if (count > 0) {
      sent += static_cast<std::size_t>(count);
      continue;
    }
    if (errno == EINTR) continue;
    pollfd room{socket, POLLOUT, 0};
    if (errno != EAGAIN || ::poll(&room, 1, kReadPatienceMs) <= 0) return false;
  }
  return true;
}

void relay_command(const std::vector<std::string>& argv, int caller,
                   const std::stop_token& stop) {
  Command command(argv);
  Ending ending;
  bool is_caller_there = true;
  while (command.output() || command.errors()) {
    // A closed descriptor is -1, which poll passes over.
    pollfd sources[] = {{command.output().get(), POLLIN, 0},
                        {command.errors().get(), POLLIN, 0},
                        {is_caller_there ? caller : -1, POLLIN, 0}};
    if (::poll(sources, std::size(sources), kStopLookMs) < 0 &&
        errno != EINTR) {
      throw_errno("wait for a command");
    }
    if (sources[0].revents != 0) {
      is_caller_there &= pass_on(command.output(), FrameKind::output, caller);
    }
    if (sources[1].revents != 0) {
      is_caller_there &= pass_on(command.errors(), FrameKind::error, caller);
    }
    if (sources[2].revents != 0 && has_hung_up(caller)) is_caller_there = false;
    if (!is_caller_there || stop.stop_requested()) ending.ask(command);
  }
  const int code = command.exit_code();
  send_all(caller, encode_frame(FrameKind::end, std::to_string(code)));
}

}  // namespace quorate::client

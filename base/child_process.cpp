#include "base/child_process.h"

#include <cerrno>

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/error.h"

namespace quorate {
namespace {

constexpr std::size_t kMaxLine = 1 << 20;

struct Pipe {
  FileDescriptor read;
  FileDescriptor write;
};

Pipe make_pipe() {
  int fds[2];
  if (::pipe2(fds, O_CLOEXEC) != 0) throw_errno("pipe");
  return {FileDescriptor(fds[0]), FileDescriptor(fds[1])};
}

// Runs in the child between fork and exec: async-signal-safe calls only.
[[noreturn]] void become(char* const* argv, int input, int output, int niceness,
                         pid_t parent) {
  ::dup2(input, STDIN_FILENO);
  ::dup2(output, STDOUT_FILENO);
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(127);  // it died before prctl
  ::signal(SIGPIPE, SIG_DFL);
  // Terminal signals go to us; we decide what they mean for the child.
  ::setpgid(0, 0);
  if (niceness != 0) {
    ::setpriority(PRIO_PROCESS, 0, niceness);
  }
  ::execv(argv[0], argv);
  ::_exit(127);
}

}  // namespace

ChildProcess::ChildProcess(const std::vector<std::string>& argv, int niceness) {
  if (::access(argv.at(0).c_str(), X_OK) != 0) {
    throw_errno("start " + argv[0]);
  }
  Pipe to = make_pipe();
  Pipe from = make_pipe();
  std::vector<char*> raw;
  raw.reserve(argv.size() + 1);
  for (const std::string& arg : argv) {
    raw.push_back(const_cast<char*>(arg.c_str()));
  }
  raw.push_back(nullptr);
  pid_t parent = ::getpid();
  pid_ = ::fork();
  if (pid_ < 0) throw_errno("fork for " + argv[0]);
  if (pid_ == 0) {
    become(raw.data(), to.read.get(), from.write.get(), niceness, parent);
  }
  to_child_ = std::move(to.write);
  from_child_ = std::move(from.read);
}

ChildProcess::~ChildProcess() {
  kill();
}

void ChildProcess::send_line(const std::string& line) {
  std::string bytes = line + "\n";
  ByteView left = as_bytes(bytes);
  while (!left.empty()) {
    ssize_t done = ::write(to_child_.get(), left.data(), left.size());
    if (done < 0 && errno == EINTR) continue;
    if (done < 0) {
      throw Error(ErrorKind::unavailable,
                  "child process " + std::to_string(pid_) + " has ended");
    }
    left = left.subspan(static_cast<std::size_t>(done));
  }
}

ChildProcess::Read ChildProcess::read_line(std::string& line, Seconds timeout) {
  Instant deadline = std::chrono::steady_clock::now() + timeout;
  for (;;) {
    std::size_t end = buffer_.find('\n');
    if (end != std::string::npos) {
      line = buffer_.substr(0, end);
      buffer_.erase(0, end + 1);
      return Read::line;
    }
    if (buffer_.size() > kMaxLine) {
      throw Error(ErrorKind::corrupt, "child process " + std::to_string(pid_) +
                                          ": a line over 1 MiB");
    }
    Seconds left = deadline - Instant(std::chrono::steady_clock::now());
    pollfd ready{from_child_.get(), POLLIN, 0};
    int wait_ms =
        left.count() <= 0 ? 0 : static_cast<int>(left.count() * 1e3) + 1;
    int polled = ::poll(&ready, 1, wait_ms);
    if (polled < 0 && errno == EINTR) continue;
    if (polled < 0) throw_errno("poll child process");
    if (polled == 0) return Read::timeout;
    char chunk[4096];
    ssize_t got = ::read(from_child_.get(), chunk, sizeof chunk);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return Read::closed;
    buffer_.append(chunk, static_cast<std::size_t>(got));
  }
}

bool ChildProcess::is_running() {
  if (reaped_) return false;
  reaped_ = ::waitpid(pid_, nullptr, WNOHANG) == pid_;
  return !reaped_;
}

void ChildProcess::suspend() {
  if (is_running()) ::kill(pid_, SIGSTOP);
}

void ChildProcess::resume() {
  if (is_running()) ::kill(pid_, SIGCONT);
}

void ChildProcess::kill() {
  if (pid_ < 0 || reaped_) return;
  ::kill(pid_, SIGKILL);
  while (::waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
  }
  reaped_ = true;
}

}  // namespace quorate

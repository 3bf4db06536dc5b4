#include "base/child_process.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <string_view>
#include <thread>

#include <fcntl.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/error.h"

namespace quorate {
namespace {

using namespace std::string_view_literals;

constexpr std::size_t kMaxLine = 1 << 20;
constexpr std::size_t kMaxWords = 1 << 10;

struct Pipe {
  FileDescriptor read;
  FileDescriptor write;
};

Pipe make_pipe() {
  int fds[2];
  if (::pipe2(fds, O_CLOEXEC) != 0) throw_errno("pipe");
  return {FileDescriptor(fds[0]), FileDescriptor(fds[1])};
}

// "NAME=VALUE" of our environment.
bool is_for_children(std::string_view setting) {
  const std::string_view name = setting.substr(0, setting.find('='));
  constexpr std::array kNames = {"HOME"sv, "INTEL_DEBUG"sv, "LANG"sv,
                                 "PATH"sv, "TMPDIR"sv,      "TZ"sv,
                                 "USER"sv};
  constexpr std::array kFamilies = {
      "AMD_"sv,     "ASAN_"sv, "CL_"sv,      "CUDA_"sv,   "DRI_"sv,
      "GALLIUM_"sv, "GPU_"sv,  "HIP_"sv,     "HSA_"sv,    "IGC_"sv,
      "LC_"sv,      "LD_"sv,   "LIBGL_"sv,   "LP_"sv,     "LSAN_"sv,
      "MESA_"sv,    "NEO"sv,   "NOUVEAU_"sv, "NVIDIA_"sv, "OCL_"sv,
      "OPENCL_"sv,  "POCL_"sv, "ROCM_"sv,    "ROCR_"sv,   "ROC_"sv,
      "RUSTICL_"sv, "TSAN_"sv, "UBSAN_"sv,   "VK_"sv,     "XDG_"sv,
      "ZES_"sv,     "ZET_"sv,  "ZE_"sv};
  // As in NVIDIA_API_KEY.
  constexpr std::array kSecrets = {"KEY"sv, "PASSW"sv, "SECRET"sv, "TOKEN"sv};
  const auto has = [&](std::string_view part) {
    return name.find(part) != name.npos;
  };
  if (std::any_of(kSecrets.begin(), kSecrets.end(), has)) return false;
  const auto begins = [&](std::string_view family) {
    return name.starts_with(family);
  };
  return std::find(kNames.begin(), kNames.end(), name) != kNames.end() ||
         std::any_of(kFamilies.begin(), kFamilies.end(), begins);
}

std::vector<char*> environment_of_children() {
  std::vector<char*> settings;
  for (char** setting = environ; *setting != nullptr; ++setting) {
    if (is_for_children(*setting)) settings.push_back(*setting);
  }
  settings.push_back(nullptr);
  return settings;
}

// Runs in the child between fork and exec: async-signal-safe calls only.
[[noreturn]] void become(char* const* argv, char* const* environment, int input,
                         int output, int errors, int niceness, pid_t parent) {
  ::dup2(input, STDIN_FILENO);
  ::dup2(output, STDOUT_FILENO);
  ::dup2(errors, STDERR_FILENO);
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(127);  // it died before prctl
  ::signal(SIGPIPE, SIG_DFL);
  // Terminal signals go to us; we decide what they mean for the child.
  ::setpgid(0, 0);
  if (niceness != 0) {
    ::setpriority(PRIO_PROCESS, 0, niceness);
  }
  // Ours close by themselves; libraries' do not always. Kernels before 5.11
  // cannot.
  ::close_range(STDERR_FILENO + 1, ~0U, CLOSE_RANGE_CLOEXEC);
  ::execve(argv[0], argv, environment);
  ::_exit(127);
}

// Those with which people and systems end programs: nothing is wrong with one
// that gets them.
bool is_from_others(int signal) {
  return signal == SIGKILL || signal == SIGTERM || signal == SIGINT ||
         signal == SIGHUP;
}

ChildProcess::End end_of(int status) {
  if (WIFSIGNALED(status)) {
    const int signal = WTERMSIG(status);
    return {"killed by signal " + std::to_string(signal) + " (" +
                ::strsignal(signal) + ")",
            !is_from_others(signal)};
  }
  const int code = WEXITSTATUS(status);
  return {"exit status " + std::to_string(code), code != 0};
}

}  // namespace

ChildProcess::ChildProcess(const std::vector<std::string>& argv, int niceness) {
  if (::access(argv.at(0).c_str(), X_OK) != 0) {
    throw_errno("start " + argv[0]);
  }
  Pipe to = make_pipe();
  Pipe from = make_pipe();
  Pipe errors = make_pipe();
  std::vector<char*> raw;
  raw.reserve(argv.size() + 1);
  for (const std::string& arg : argv) {
    raw.push_back(const_cast<char*>(arg.c_str()));
  }
  raw.push_back(nullptr);
  std::vector<char*> environment = environment_of_children();
  to_child_ = std::move(to.write);
  from_child_ = std::move(from.read);
  errors_ = std::move(errors.read);
  ::fcntl(errors_.get(), F_SETFL, O_NONBLOCK);
  sources_.reset(::epoll_create1(EPOLL_CLOEXEC));
  if (!sources_) throw_errno("epoll");
  watch(from_child_.get());
  watch(errors_.get());
  pid_t parent = ::getpid();
  pid_ = ::fork();
  if (pid_ < 0) throw_errno("fork for " + argv[0]);
  if (pid_ == 0) {
    become(raw.data(), environment.data(), to.read.get(), from.write.get(),
           errors.write.get(), niceness, parent);
  }
}

void ChildProcess::watch(int fd) {
  epoll_event event{};
  event.events = EPOLLIN;
  event.data.fd = fd;
  if (::epoll_ctl(sources_.get(), EPOLL_CTL_ADD, fd, &event) != 0) {
    throw_errno("watch child process");
  }
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
    int wait_ms =
        left.count() <= 0 ? 0 : static_cast<int>(left.count() * 1e3) + 1;
    epoll_event ready[2];
    int count = ::epoll_wait(sources_.get(), ready, 2, wait_ms);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) throw_errno("poll child process");
    if (count == 0) return Read::timeout;
    bool has_output = std::any_of(ready, ready + count, [&](const auto& event) {
      return event.data.fd == from_child_.get();
    });
    if (!has_output || count == 2) take_words();
    if (!has_output && wait_ms == 0) return Read::timeout;
    if (!has_output) continue;
    char chunk[4096];
    ssize_t got = ::read(from_child_.get(), chunk, sizeof chunk);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return Read::closed;
    buffer_.append(chunk, static_cast<std::size_t>(got));
  }
}

bool ChildProcess::take_words() {
  char chunk[4096];
  ssize_t got = ::read(errors_.get(), chunk, sizeof chunk);
  if (got < 0 && (errno == EINTR || errno == EAGAIN)) return false;
  if (got <= 0) {
    ::epoll_ctl(sources_.get(), EPOLL_CTL_DEL, errors_.get(), nullptr);
    return false;
  }
  auto size = static_cast<std::size_t>(got);
  [[maybe_unused]] ssize_t put = ::write(STDERR_FILENO, chunk, size);
  words_.append(chunk, size);
  if (words_.size() > kMaxWords) words_.erase(0, words_.size() - kMaxWords);
  return true;
}

ChildProcess::End ChildProcess::end() {
  constexpr int kTries = 100;  // of 10 ms: its output is closed already
  for (int i = 0; i < kTries && is_running(); ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  kill();
  for (int i = 0; i < kTries && take_words(); ++i) {
  }
  return end_of(status_);
}

bool ChildProcess::is_running() {
  if (reaped_) return false;
  reaped_ = ::waitpid(pid_, &status_, WNOHANG) == pid_;
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
  while (::waitpid(pid_, &status_, 0) < 0 && errno == EINTR) {
  }
  reaped_ = true;
}

}  // namespace quorate

#include "client/worker/confinement/escapes.h"

#include <cerrno>
#include <cstring>
#include <functional>

#include <fcntl.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/error.h"

#include <linux/io_uring.h>
#include <linux/keyctl.h>
#include <linux/perf_event.h>
#include <sched.h>

namespace quorate::worker {
namespace {

struct Place {
  fs::path own;     // the worker's folder
  fs::path secret;  // a file beside it
  fs::path target;  // a file beside it that is not there
  std::uint32_t memory_mb = 0;
};

// Each returns true if it got through.
struct Attempt {
  const char* name;
  bool (*got_through)(const Place& place);
};

bool can_open(const fs::path& path, int flags) {
  return FileDescriptor(::open(path.c_str(), flags | O_CLOEXEC, 0600)).get() >=
         0;
}

bool is_done(long result) {
  return result >= 0;
}

bool can_fork() {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(0);
  return child > 0;
}

bool can_run() {
  char program[] = "/bin/true";
  char* argv[] = {program, nullptr};
  char* environment[] = {nullptr};
  ::execve(program, argv, environment);
  return false;  // else this process would be another one: exit code 0
}

bool can_look_into_parent() {
  char byte = 0;
  iovec mine{&byte, 1};
  iovec theirs{&byte, 1};  // the parent has the same there
  return ::process_vm_readv(::getppid(), &mine, 1, &theirs, 1, 0) == 1;
}

bool can_take_memory(std::uint32_t megabytes) {
  const std::size_t bytes = std::size_t{megabytes} << 21;  // twice
  return ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) != MAP_FAILED;
}

// A descriptor of TCP to a port where nobody listens: refused by a wall, or by
// the network?
bool can_connect(int family) {
  const FileDescriptor fd(::socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (!fd) return false;
  sockaddr_in to{};
  to.sin_family = AF_INET;
  to.sin_port = htons(9);
  to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  ::connect(fd.get(), reinterpret_cast<const sockaddr*>(&to), sizeof to);
  return errno != EPERM && errno != EACCES;
}

bool can_use_ring() {
  io_uring_params params{};
  return is_done(::syscall(SYS_io_uring_setup, 4, &params));
}

bool can_watch_kernel() {
  perf_event_attr event{};
  event.size = sizeof event;
  event.type = PERF_TYPE_SOFTWARE;
  return is_done(::syscall(SYS_perf_event_open, &event, 0, -1, -1, 0));
}

constexpr Attempt kAttempts[] = {
    {"read a file beside its folder",
     [](const Place& p) { return can_open(p.secret, O_RDONLY); }},
    {"write to it",
     [](const Place& p) { return can_open(p.secret, O_WRONLY); }},
    {"make a file beside its folder",
     [](const Place& p) { return can_open(p.target, O_WRONLY | O_CREAT); }},
    {"remove a file beside its folder",
     [](const Place& p) { return is_done(::unlink(p.secret.c_str())); }},
    {"move a file out of its folder",
     [](const Place& p) {
       const fs::path mine = p.own / "mine";
       return can_open(mine, O_WRONLY | O_CREAT) &&
              is_done(::rename(mine.c_str(), p.target.c_str()));
     }},
    {"read it through a symbolic link",
     [](const Place& p) {
       const fs::path link = p.own / "link";
       return is_done(::symlink(p.secret.c_str(), link.c_str())) ||
              can_open(link, O_RDONLY);
     }},
    {"link it into its folder",
     [](const Place& p) {
       return is_done(::link(p.secret.c_str(), (p.own / "hard").c_str()));
     }},
    {"truncate it",
     [](const Place& p) { return is_done(::truncate(p.secret.c_str(), 0)); }},
    {"read the users of the machine",
     [](const Place&) { return can_open("/etc/passwd", O_RDONLY); }},
    {"read memory of the parent process",
     [](const Place&) {
       return can_open(fmt::format("/proc/{}/mem", ::getppid()), O_RDONLY);
     }},
    {"change the mode of a file",
     [](const Place& p) { return is_done(::chmod(p.own.c_str(), 0777)); }},
    {"make a device",
     [](const Place& p) {
       return is_done(::mknod((p.own / "pipe").c_str(), S_IFIFO | 0600, 0));
     }},
    {"speak to the network over IPv4",
     [](const Place&) { return can_connect(AF_INET); }},
    {"speak to the network over IPv6",
     [](const Place&) { return can_connect(AF_INET6); }},
    {"open a raw socket",
     [](const Place&) {
       return is_done(::socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, 0));
     }},
    {"speak to a program of this machine",
     [](const Place&) {
       const FileDescriptor fd(
           ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
       if (!fd) return false;
       const sockaddr to{AF_UNIX, "\0quorate"};
       ::connect(fd.get(), &to, sizeof to);
       return errno != EPERM && errno != EACCES;
     }},
    {"trace the parent process",
     [](const Place&) {
       return is_done(::ptrace(PTRACE_SEIZE, ::getppid(), nullptr, nullptr));
     }},
    {"look into the parent process",
     [](const Place&) { return can_look_into_parent(); }},
    {"signal the parent process",
     [](const Place&) { return is_done(::kill(::getppid(), SIGURG)); }},
    {"make namespaces",
     [](const Place&) { return is_done(::unshare(CLONE_NEWUSER)); }},
    {"mount a file system",
     [](const Place& p) {
       if (::mount("none", p.own.c_str(), "tmpfs", 0, nullptr) != 0) {
         return false;
       }
       ::umount2(p.own.c_str(), MNT_DETACH);
       return true;
     }},
    {"load a program into the kernel",
     [](const Place&) {
       // EFAULT or EINVAL would say that the kernel looked at it.
       ::syscall(SYS_bpf, 0, nullptr, 0);
       return errno != EPERM;
     }},
    {"ask the kernel by a ring", [](const Place&) { return can_use_ring(); }},
    {"watch the kernel", [](const Place&) { return can_watch_kernel(); }},
    {"read keys",
     [](const Place&) {
       return is_done(::syscall(SYS_keyctl, KEYCTL_GET_KEYRING_ID,
                                KEY_SPEC_USER_KEYRING, 0));
     }},
    {"take twice its memory",
     [](const Place& p) { return can_take_memory(p.memory_mb); }}};

// A driver may start its linker: that is the GPU's profile.
constexpr Attempt kOfCpu[] = {
    {"run another program", [](const Place&) { return can_run(); }},
    {"make processes", [](const Place&) { return can_fork(); }}};

constexpr int kRefused = 3;
constexpr int kUnconfined = 4;

struct Cell {
  Place place;
  ConfinementOptions options;
  Walls walls;
};

bool is_confined(const Cell& cell) {
  const rlim_t bytes = rlim_t{cell.place.memory_mb} << 20;
  const rlimit memory{bytes, bytes};
  return (!cell.walls.files || confine_files(cell.options).empty()) &&
         (!cell.walls.files || ::setrlimit(RLIMIT_DATA, &memory) == 0) &&
         (!cell.walls.calls || confine_calls(cell.options).empty());
}

// In the child. What execve makes of it would exit with 0.
[[noreturn]] void attempt(const Attempt& one, const Cell& cell) {
  if (!is_confined(cell)) ::_exit(kUnconfined);
  ::_exit(one.got_through(cell.place) ? 0 : kRefused);
}

Escape tried(const Attempt& one, const Cell& cell) {
  const pid_t child = ::fork();
  if (child < 0) throw_errno("start a process");
  if (child == 0) attempt(one, cell);
  int status = 0;
  ::waitpid(child, &status, 0);
  if (WIFEXITED(status) && WEXITSTATUS(status) == kRefused) {
    return {one.name, true, ""};
  }
  if (WIFEXITED(status) && WEXITSTATUS(status) == kUnconfined) {
    return {one.name, false, "the process could not be confined"};
  }
  if (WIFEXITED(status)) return {one.name, false, "it got through"};
  return {one.name, false, fmt::format("ended by signal {}", WTERMSIG(status))};
}

}  // namespace

std::vector<Escape> try_escapes(const fs::path& folder, bool is_gpu,
                                std::uint32_t memory_mb, const Walls& walls) {
  const Cell cell{
      {folder / "own", folder / "secret", folder / "target", memory_mb},
      {{folder / "own"}, is_gpu},
      walls};
  std::vector<Escape> found;
  const auto try_one = [&](const Attempt& one) {
    fs::remove_all(cell.place.own);
    make_private_folder(cell.place.own);
    write_file_durably(cell.place.secret, as_bytes("secret"));
    fs::remove(cell.place.target);
    found.push_back(tried(one, cell));
  };
  for (const Attempt& one : kAttempts) try_one(one);
  if (!is_gpu) {
    for (const Attempt& one : kOfCpu) try_one(one);
  }
  return found;
}

}  // namespace quorate::worker

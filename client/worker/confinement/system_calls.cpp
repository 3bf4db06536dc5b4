#include "client/worker/confinement/system_calls.h"

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <memory>

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <sched.h>
#include <seccomp.h>

namespace quorate::worker {
namespace {

constexpr const char* kComputing[] = {
    // files
    "access", "close", "close_range", "dup", "dup2", "dup3", "faccessat",
    "faccessat2", "fadvise64", "fallocate", "fcntl", "fdatasync", "flock",
    "fstat", "fstatfs", "fsync", "ftruncate", "getcwd", "getdents64", "lseek",
    "lstat", "mkdir", "mkdirat", "newfstatat", "open", "openat", "pread64",
    "preadv", "pwrite64", "pwritev", "read", "readlink", "readlinkat", "readv",
    "rename", "renameat", "renameat2", "rmdir", "stat", "statfs", "statx",
    "sync_file_range", "umask", "unlink", "unlinkat", "write", "writev",
    // memory
    "brk", "madvise", "membarrier", "mmap", "mprotect", "mremap", "munmap",
    "get_mempolicy", "mbind", "set_mempolicy",
    // threads
    "exit", "exit_group", "futex", "gettid", "rseq", "rt_sigaction",
    "rt_sigprocmask", "rt_sigreturn", "sched_getaffinity", "sched_getparam",
    "sched_getscheduler", "sched_setaffinity", "sched_yield", "set_robust_list",
    "set_tid_address", "sigaltstack",
    // what this process is, and the time
    "clock_getres", "clock_gettime", "clock_nanosleep", "getegid", "geteuid",
    "getgid", "getpgrp", "getpid", "getppid", "getrandom", "getrlimit",
    "getrusage", "gettimeofday", "getuid", "nanosleep", "sysinfo", "time",
    "times", "uname",
    // waiting
    "epoll_create1", "epoll_ctl", "epoll_pwait", "epoll_wait", "eventfd2",
    "pipe2", "poll", "ppoll", "pselect6", "restart_syscall", "select"};

constexpr const char* kNeverForDrivers[] = {
    // other processes
    "ptrace", "process_vm_readv", "process_vm_writev", "process_madvise",
    "pidfd_getfd", "pidfd_open", "pidfd_send_signal", "kcmp", "tkill",
    "rt_sigqueueinfo", "rt_tgsigqueueinfo", "userfaultfd",
    // the network
    "connect", "bind", "listen", "accept", "accept4", "sendto", "sendmsg",
    "sendmmsg",
    // whose files they are and what may be done with them
    "chmod", "fchmod", "fchmodat", "chown", "fchown", "fchownat", "lchown",
    "setxattr", "fsetxattr", "lsetxattr", "link", "linkat", "symlink",
    "symlinkat", "mknod", "mknodat", "open_by_handle_at",
    // the system
    "bpf", "perf_event_open", "io_uring_setup", "io_uring_enter",
    "io_uring_register", "add_key", "request_key", "keyctl", "unshare", "setns",
    "mount", "umount2", "move_mount", "open_tree", "fsopen", "fsmount",
    "pivot_root", "chroot", "swapon", "swapoff", "reboot", "kexec_load",
    "kexec_file_load", "init_module", "finit_module", "delete_module", "acct",
    "settimeofday", "clock_settime", "adjtimex", "clock_adjtime", "sethostname",
    "setdomainname", "iopl", "ioperm", "quotactl", "syslog", "setuid", "setgid",
    "setreuid", "setregid", "setresuid", "setresgid", "setgroups",
    "personality", "fanotify_init", "name_to_handle_at"};

// Of a call's argument, numbered from 0. The library's own macros are C.
scmp_arg_cmp where(unsigned argument, scmp_compare compared, std::uint64_t a,
                   std::uint64_t b = 0) {
  return {argument, compared, a, b};
}

using Filter = std::unique_ptr<void, void (*)(scmp_filter_ctx)>;

// A call that this kind of processor does not have needs no rule.
void add(const Filter& filter, std::uint32_t action, const char* name) {
  const int number = ::seccomp_syscall_resolve_name(name);
  if (number >= 0) ::seccomp_rule_add(filter.get(), action, number, 0);
}

void add_if(const Filter& filter, std::uint32_t action, const char* name,
            scmp_arg_cmp condition) {
  const int number = ::seccomp_syscall_resolve_name(name);
  if (number >= 0) {
    ::seccomp_rule_add_array(filter.get(), action, number, 1, &condition);
  }
}

std::string load(const Filter& filter) {
  // All threads, or none.
  int failure = ::seccomp_attr_set(filter.get(), SCMP_FLTATR_CTL_TSYNC, 1);
  if (failure == 0) failure = ::seccomp_load(filter.get());
  if (failure == 0) return "";
  return fmt::format("seccomp: {}: system calls are not confined",
                     std::strerror(-failure));
}

Filter filter_that(std::uint32_t usually) {
  return {::seccomp_init(usually), ::seccomp_release};
}

}  // namespace

std::string allow_calls() {
  const Filter filter = filter_that(SCMP_ACT_ERRNO(EPERM));
  if (!filter) return "seccomp: no filter: system calls are not confined";
  for (const char* name : kComputing) add(filter, SCMP_ACT_ALLOW, name);
  // A thread of this process; no process. The flags of clone3 cannot be seen.
  add_if(filter, SCMP_ACT_ALLOW, "clone",
         where(0, SCMP_CMP_MASKED_EQ, CLONE_THREAD, CLONE_THREAD));
  add(filter, SCMP_ACT_ERRNO(ENOSYS), "clone3");
  // To itself, as abort() does.
  const auto self = static_cast<scmp_datum_t>(::getpid());
  add_if(filter, SCMP_ACT_ALLOW, "tgkill", where(0, SCMP_CMP_EQ, self));
  add_if(filter, SCMP_ACT_ALLOW, "kill", where(0, SCMP_CMP_EQ, self));
  // Limits are read; nobody else's.
  add_if(filter, SCMP_ACT_ALLOW, "prlimit64", where(2, SCMP_CMP_EQ, 0));
  // Whether something is a terminal; nothing is typed into one.
  add_if(filter, SCMP_ACT_ALLOW, "ioctl", where(1, SCMP_CMP_EQ, TCGETS));
  add_if(filter, SCMP_ACT_ALLOW, "ioctl", where(1, SCMP_CMP_EQ, FIONREAD));
  return load(filter);
}

std::string deny_calls() {
  const Filter filter = filter_that(SCMP_ACT_ALLOW);
  if (!filter) return "seccomp: no filter: system calls are not confined";
  for (const char* name : kNeverForDrivers) {
    add(filter, SCMP_ACT_ERRNO(EPERM), name);
  }
  const auto self = static_cast<scmp_datum_t>(::getpid());
  add_if(filter, SCMP_ACT_ERRNO(EPERM), "kill", where(0, SCMP_CMP_NE, self));
  add_if(filter, SCMP_ACT_ERRNO(EPERM), "socket",
         where(0, SCMP_CMP_NE, 1 /* AF_UNIX */));
  for (const int kind : {CLONE_NEWUSER, CLONE_NEWNS, CLONE_NEWNET, CLONE_NEWPID,
                         CLONE_NEWIPC, CLONE_NEWUTS, CLONE_NEWCGROUP}) {
    const auto flag = static_cast<std::uint64_t>(kind);
    add_if(filter, SCMP_ACT_ERRNO(EPERM), "clone",
           where(0, SCMP_CMP_MASKED_EQ, flag, flag));
  }
  add(filter, SCMP_ACT_ERRNO(ENOSYS), "clone3");
  add_if(filter, SCMP_ACT_ERRNO(EPERM), "ioctl",
         where(1, SCMP_CMP_EQ, TIOCSTI));
  return load(filter);
}

}  // namespace quorate::worker

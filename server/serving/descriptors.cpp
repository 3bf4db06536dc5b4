#include "server/serving/descriptors.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>
#include <sys/resource.h>

#include "base/error.h"
#include "base/log.h"

namespace quorate {
namespace {

// For all that is no connection: 64 house workers have two pipes each.
constexpr std::uint64_t kReserve = 256;
constexpr std::uint64_t kOfOneConnection = 2;
constexpr std::size_t kLeastConnections = 8;

}  // namespace

std::size_t connections_within(std::uint64_t open_files, std::size_t wanted) {
  std::uint64_t left = open_files - std::min(open_files, kReserve);
  std::uint64_t most = left / kOfOneConnection;
  return std::max<std::size_t>(std::min<std::uint64_t>(wanted, most),
                               kLeastConnections);
}

std::uint64_t raise_open_files() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) {
    throw_errno("reading the limit of open files");
  }
  rlim_t before = std::exchange(limit.rlim_cur, limit.rlim_max);
  return ::setrlimit(RLIMIT_NOFILE, &limit) == 0 ? limit.rlim_max : before;
}

void warn_of_fewer_connections(std::size_t taken, std::size_t wanted) {
  if (taken >= wanted) return;
  log_warning(
      "fewer_connections",
      {{"max_connections", wanted},
       {"taken", taken},
       {"advice", fmt::format("allow this process {} open files (ulimit -n, or "
                              "LimitNOFILE= of the systemd unit)",
                              kReserve + kOfOneConnection * wanted)}});
}

}  // namespace quorate

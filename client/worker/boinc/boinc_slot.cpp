#include "client/worker/boinc/boinc_slot.h"

#include <algorithm>
#include <cmath>

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include "base/error.h"

namespace quorate::worker {
namespace {

// A record lock, as other users of the slot take it: flock(2) would not see
// theirs.
FileDescriptor locked(const fs::path& path) {
  FileDescriptor file = open_file(path, O_WRONLY | O_CREAT, 0660);
  struct flock whole {};
  whole.l_type = F_WRLCK;
  whole.l_whence = SEEK_SET;
  if (::fcntl(file.get(), F_SETLK, &whole) != 0) {
    throw Error(ErrorKind::denied,
                "BOINC slot " + path.parent_path().string() +
                    ": another process computes here: wait for its end");
  }
  return file;
}

}  // namespace

BoincSlot::BoincSlot(const fs::path& folder)
    : folder_(folder),
      lock_(locked(folder / "boinc_lockfile")),
      init_data_(boinc::parse_init_data(
          read_file(folder / "init_data.xml", 1 << 20))) {}

fs::path BoincSlot::file(const std::string& open_name) const {
  constexpr std::size_t kMaxLink = 8192;
  fs::path path = folder_ / open_name;
  // The thing itself may be long, and only its begin tells what it is.
  FileDescriptor opened = open_file(path, O_RDONLY);
  std::string head(kMaxLink, '\0');
  ssize_t got = ::pread(opened.get(), head.data(), head.size(), 0);
  if (got < 0) throw_errno("read " + path.string());
  head.resize(static_cast<std::size_t>(got));
  auto target = boinc::soft_link_target(head);
  return target ? folder_ / *target : path;
}

void BoincSlot::finish(int exit_status) const {
  write_file_durably(folder_ / "boinc_finish_called",
                     as_bytes(fmt::format("{}\n", exit_status)));
}

void BoincSlot::postpone(Seconds delay, const std::string& why) const {
  std::string line = why;
  std::replace(line.begin(), line.end(), '\n', ' ');
  write_file_durably(
      folder_ / "boinc_temporary_exit",
      as_bytes(fmt::format("{:.0f}\n{}\n", std::ceil(delay.count()), line)));
}

}  // namespace quorate::worker

// The folder that a BOINC client starts a task in ("slot"): what the client has
// put there, and the files that say how the task ended.
#pragma once

#include <optional>
#include <string>

#include "base/clock.h"
#include "base/file.h"
#include "protocol/boinc/app_messages.h"

namespace quorate::worker {

// Exit status of a task that the client aborted.
inline constexpr int kBoincAborted = 194;

class BoincSlot {
 public:
  // Takes the slot's lock and reads init_data.xml. Throws denied if another
  // process has the lock, corrupt, io.
  explicit BoincSlot(const fs::path& folder);

  const boinc::InitData& init_data() const { return init_data_; }
  // Where the file with this name in the slot really is. Throws io if it is not
  // there.
  fs::path file(const std::string& open_name) const;
  fs::path channels() const { return folder_ / "boinc_mmap_file"; }
  // Of the task itself, beside what the client puts here.
  fs::path own_file(const std::string& name) const { return folder_ / name; }

  // The task is over; the process must end with this exit status. Without it
  // a client starts the task again.
  void finish(int exit_status) const;
  // The task cannot go on before this time has passed; the process must end
  // with exit status 0. why: for the client's log.
  void postpone(Seconds delay, const std::string& why) const;

 private:
  fs::path folder_;
  FileDescriptor lock_;
  boinc::InitData init_data_;
};

}  // namespace quorate::worker

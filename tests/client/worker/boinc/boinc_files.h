// A slot as a BOINC client makes it, and the client's side of its channels.
#pragma once

#include <unistd.h>

#include "base/file.h"
#include "client/worker/boinc/boinc_channels.h"
#include "tests/support/temporary_folder.h"

namespace quorate::worker {

class BoincFiles {
 public:
  BoincFiles() {
    write("boinc_mmap_file", std::string(BoincChannels::kBytes, '\0'));
    write("init_data.xml",
          "<app_init_data>\n<wu_name>wu_1</wu_name>\n"
          "<result_name>r1</result_name>\n<project_dir>/p</project_dir>\n"
          "<client_pid>" +
              std::to_string(::getpid()) +
              "</client_pid>\n<wu_cpu_time>100</wu_cpu_time>\n"
              "<checkpoint_period>0</checkpoint_period>\n</app_init_data>\n");
  }

  const fs::path& folder() const { return folder_.path(); }
  void write(const char* name, const std::string& text) const {
    write_file_durably(folder_ / name, as_bytes(text));
  }
  std::string read(const char* name) const {
    return read_text_file(folder_ / name);
  }

 private:
  test::TemporaryFolder folder_;
};

}  // namespace quorate::worker

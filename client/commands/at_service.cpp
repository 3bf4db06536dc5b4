#include "client/commands/at_service.h"

#include <algorithm>
#include <exception>

#include "base/file.h"
#include "client/control/authority.h"
#include "client/control/service.h"
#include "client/folder/data_folder.h"
#include "client/machine/settings.h"
#include "client/ui/ui.h"

namespace quorate::client {
namespace {

bool has_own_projects() {
  try {
    const fs::path folder = default_data_folder() / "projects";
    return fs::exists(folder) && !fs::is_empty(folder);
  } catch (const std::exception&) {  // no home, or one that cannot be read
    return false;
  }
}

// The address of the page in what `ui` printed; empty: none.
std::string page_address(const std::string& printed) {
  const std::size_t begin = printed.find("http://127.0.0.1:");
  if (begin == std::string::npos) return "";
  const std::size_t end = printed.find_first_of("\"\n", begin);
  return printed.substr(begin, end - begin);
}

}  // namespace

bool is_for_this_service(std::span<const std::string> words) {
  return is_for_service(words) && !has_own_projects() &&
         is_service_there(control_socket());
}

int act_at_service(std::vector<std::string> words) {
  const auto open = std::find(words.begin(), words.end(), "--open");
  if (words.front() != "ui" || open == words.end()) {
    return command_service(control_socket(), words);
  }
  words.erase(open);
  fs::path file;
  const int code = command_service(
      control_socket(), words, [&file](const std::string& printed) {
        const std::string address = page_address(printed);
        if (address.empty() || !file.empty()) return;
        file =
            open_in_browser(DataFolder(default_data_folder()).root(), address);
      });
  if (!file.empty()) fs::remove(file);
  return code;
}

}  // namespace quorate::client

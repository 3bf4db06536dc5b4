// What a BOINC client reads before it attaches: the master page, which names
// the scheduler, and the project's configuration (get_project_config.php).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace quorate::boinc {

// The lines of the master page that name the scheduler, for the page's head:
// clients look for them in lines of under 256 bytes, and know two forms. Throws
// usage for a URL that is too long for that or has characters that a URL has
// not.
std::string scheduler_links(const std::string& scheduler_url);

struct ProjectConfig {
  std::string name;
  std::string master_url;  // ends in "/"; tasks and accounts belong to it
  std::uint32_t min_password_length = 6;
  bool is_closed_to_new_accounts = false;
  std::string terms_of_use;            // must be agreed to, if not empty
  std::vector<std::string> platforms;  // that there are programs for
};

std::string write(const ProjectConfig& config);

}  // namespace quorate::boinc

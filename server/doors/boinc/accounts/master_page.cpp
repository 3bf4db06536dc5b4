#include "server/doors/boinc/accounts/master_page.h"

#include <fmt/format.h>

#include "protocol/boinc/project_config.h"
#include "server/doors/boinc/accounts/embedded.h"
#include "server/doors/boinc/accounts/urls.h"

namespace quorate::boinc {
namespace {

std::string html(const std::string& text) {
  std::string out;
  for (char c : text) {
    if (c == '&')
      out += "&amp;";
    else if (c == '<')
      out += "&lt;";
    else if (c == '>')
      out += "&gt;";
    else if (c == '"')
      out += "&quot;";
    else
      out += c;
  }
  return out;
}

}  // namespace

std::string master_page(const std::string& project, const std::string& master) {
  return fmt::format(
      fmt::runtime(embedded::boinc_html), fmt::arg("project", html(project)),
      fmt::arg("address", html(master)),
      fmt::arg("scheduler_links", scheduler_links(scheduler_url(master))));
}

}  // namespace quorate::boinc

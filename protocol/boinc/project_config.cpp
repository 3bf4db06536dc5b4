#include "protocol/boinc/project_config.h"

#include <fmt/format.h>

#include "base/error.h"
#include "protocol/boinc/limits.h"
#include "protocol/boinc/xml_writer.h"
#include "protocol/text.h"

namespace quorate::boinc {

std::string scheduler_links(const std::string& scheduler_url) {
  constexpr std::size_t kMaxUrl = 200;
  constexpr const char* kAllowed =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
      "-._~:/?#[]@!$()*+,;=%";
  if (scheduler_url.size() > kMaxUrl ||
      scheduler_url.find_first_not_of(kAllowed) != std::string::npos) {
    throw Error(
        ErrorKind::usage,
        fmt::format("scheduler URL \"{}\": expected at most {} bytes "
                    "of what a URL is made of: set a shorter one",
                    protocol::plain_text(scheduler_url, kMaxUrl), kMaxUrl));
  }
  return fmt::format(
      "<link rel=\"boinc_scheduler\" href=\"{0}\">\n"
      "<!--\n<scheduler>{0}</scheduler>\n-->\n",
      scheduler_url);
}

std::string write(const ProjectConfig& config) {
  XmlWriter xml;
  xml.group("project_config", [&] {
    xml.element("name", protocol::plain_text(config.name, kMaxHostText));
    xml.element("master_url", config.master_url);
    xml.element("web_rpc_url_base", config.master_url);
    xml.element("min_passwd_length", config.min_password_length);
    xml.flag("account_creation_disabled", config.is_closed_to_new_accounts);
    xml.flag("client_account_creation_disabled",
             config.is_closed_to_new_accounts);
    if (!config.terms_of_use.empty()) {
      xml.element("terms_of_use", config.terms_of_use);
    }
    xml.group("platforms", [&] {
      for (const std::string& platform : config.platforms) {
        xml.group("platform", [&] { xml.element("platform_name", platform); });
      }
    });
  });
  return xml.take();
}

}  // namespace quorate::boinc

#include "server/serving/announcement.h"

#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

namespace quorate {
namespace {

std::string listen_url(const ServedProject& served) {
  return fmt::format("{}://{}", served.is_tls ? "https" : "http",
                     text_of(served.endpoint));
}

std::optional<std::string> attach_address(const ServedProject& served) {
  std::optional<std::string> url =
      volunteers_url(served.settings.url, served.endpoint, served.is_tls);
  if (!url) return std::nullopt;
  return *url + "#" + served.fingerprint;
}

std::vector<std::string> remarks_on(const ServedProject& served) {
  std::vector<std::string> remarks;
  if (!attach_address(served)) {
    remarks.push_back(
        fmt::format("set \"url\" in quorate.toml: {} is not an address that "
                    "volunteers can reach",
                    served.endpoint.address));
  }
  if (is_proxy_unnamed(served.settings)) remarks.emplace_back(kProxyUnnamed);
  if (served.key_days_left) {
    remarks.push_back(
        fmt::format("the project's key holds for {} more days: renew it with "
                    "`quorate keys renew`, or volunteers stop",
                    *served.key_days_left));
  }
  std::vector<std::string> off = roles_off(served.roles);
  if (!off.empty()) {
    remarks.push_back(fmt::format("--roles: off: {}", fmt::join(off, ", ")));
  }
  if (served.settings.house_workers == 0) {
    remarks.emplace_back(
        "no house worker: no version is evaluated, so none can be exported");
  } else if (!served.roles.evaluator) {
    remarks.emplace_back(
        "no evaluator: no version is evaluated, so none can be exported");
  }
  return remarks;
}

}  // namespace

bool is_proxy_unnamed(const ServerSettings& settings) {
  return settings.plain_http && settings.trusted_proxies.empty();
}

std::string announcement(const ServedProject& served) {
  std::optional<std::string> address = attach_address(served);
  std::string unknown =
      fmt::format("{}://HOST:{}#{}", served.is_tls ? "https" : "http",
                  served.endpoint.port, served.fingerprint);
  std::string text = fmt::format(
      "Serving {} on {}\n"
      "Volunteers type{}:\n"
      "  quorate-client attach {}\n"
      "  quorate-client run\n",
      served.folder, listen_url(served),
      address ? "" : ", with the name of this machine as HOST",
      address.value_or(unknown));
  for (const std::string& remark : remarks_on(served)) {
    text += fmt::format("Note: {}.\n", remark);
  }
  return text;
}

nlohmann::json announcement_json(const ServedProject& served) {
  std::optional<std::string> address = attach_address(served);
  return {
      {"folder", served.folder},
      {"url",
       volunteers_url(served.settings.url, served.endpoint, served.is_tls)
           .value_or(listen_url(served))},
      {"attach", address ? nlohmann::json(*address) : nlohmann::json(nullptr)},
      {"remarks", remarks_on(served)}};
}

}  // namespace quorate

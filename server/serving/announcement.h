// What `serve` prints when it serves.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include <nlohmann/json_fwd.hpp>

#include "server/settings/address.h"
#include "server/settings/roles.h"
#include "server/settings/settings.h"

namespace quorate {

struct ServedProject {
  std::string folder;
  std::string fingerprint;
  Endpoint endpoint;  // with the port that was opened
  bool is_tls = false;
  ServerSettings settings;
  Roles roles;
  std::optional<std::int64_t> key_days_left = {};  // if they are few
};

// Whether a proxy is in front that nobody has named: every volunteer then seems
// to come from its address, and shares its limits.
bool is_proxy_unnamed(const ServerSettings& settings);
inline constexpr const char* kProxyUnnamed =
    "plain_http without trusted_proxies: every volunteer behind a proxy counts "
    "as one address: name the proxy in quorate.toml";

// For people: what volunteers type, and what the operator may have missed.
std::string announcement(const ServedProject& served);
// {folder, url, attach, remarks}; attach is null if nobody has said the address
// of this machine, url is then where it listens.
nlohmann::json announcement_json(const ServedProject& served);

}  // namespace quorate

#include "client/exchange/session.h"

#include <algorithm>

#include <fmt/format.h>

#include "client/machine/host_info.h"
#include "workunits/host.h"

namespace quorate::client {

namespace {

PrivateKey key_for(const Project& project, std::string_view whose,
                   const PrivateKey& key) {
  if (!project.has_own_keys) return key;
  return key.derive(
      fmt::format("quorate {} in project {}", whose, project.id.hex()));
}

}  // namespace

Identity identity_of(const DataFolder& folder, const Project& project) {
  Identity identity{project.id,
                    key_for(project, "account", folder.account_key()),
                    key_for(project, "host", folder.host_key()),
                    project.user_name,
                    project.host_name,
                    platform_text()};
  identity.is_name_chosen = !project.host_name.empty();
  if (!identity.is_name_chosen) {
    identity.host_name = neutral_host_name(identity.host.public_key());
  }
  return identity;
}

std::string Session::token() const {
  std::lock_guard lock(mutex_);
  return current_.token;
}

Seconds Session::heartbeat() const {
  constexpr Seconds kShortest{0.2};  // that a server may be set to
  std::lock_guard lock(mutex_);
  return std::max(current_.heartbeat, kShortest);
}

std::uint64_t Session::keys() const {
  std::lock_guard lock(mutex_);
  return current_.keys;
}

std::string Session::renew(
    const std::string& stale,
    const std::function<protocol::SessionReply()>& open) {
  std::lock_guard one_at_a_time(renewing_);
  if (std::string now = token(); now != stale) return now;
  protocol::SessionReply fresh = open();
  std::lock_guard lock(mutex_);
  current_ = std::move(fresh);
  return current_.token;
}

}  // namespace quorate::client

#include "server/hosts/hosts.h"

#include <fmt/format.h>

#include "base/error.h"
#include "protocol/limits.h"
#include "protocol/text.h"
#include "server/hosts/credit.h"

namespace quorate {
namespace {

// Last-seen times are for people: writing them more often buys nothing.
constexpr Millis kTouchEveryMs = 10'000;
constexpr Seconds kForgetBlocksEvery{3600};

// what: was tried.
void expect_free(const std::string& name, const char* what) {
  if (!is_reserved_name(name)) return;
  throw Error(ErrorKind::denied,
              fmt::format("{}: this name belongs to the server's own workers: "
                          "choose another",
                          what));
}

constexpr UserId kNobody = 0;  // ids begin at 1

std::string digits_of(const PublicKey& key) {
  return key.hex().substr(0, 8);
}

}  // namespace

HostTable::HostTable(Store& store, std::size_t max_hosts_of_user)
    : store_(store), max_hosts_of_user_(max_hosts_of_user) {
  for (User& user : store.users()) {
    // The house user has no key that anybody could show.
    if (user.id != kHouseUser) {
      user_by_key_[user.key] = user.id;
      names_.take(user.name, user.id);
    }
    users_[user.id] = std::move(user);
  }
  for (const Host& host : store.hosts()) add(host);
}

Host& HostTable::add(const Host& host) {
  host_by_key_[host.key] = host.id;
  std::vector<HostId>& of_user = hosts_of_[host.user_id];
  if (of_user.empty() && host.user_id != kHouseUser) {
    volunteers_.push_back(host.user_id);
  }
  of_user.push_back(host.id);
  Host& added = hosts_[host.id] = host;
  host_by_id_[host.id] = &added;
  return added;
}

const std::vector<HostId>& HostTable::hosts_of(UserId user) const {
  static const std::vector<HostId> kNone;
  auto found = hosts_of_.find(user);
  return found == hosts_of_.end() ? kNone : found->second;
}

const User& HostTable::register_user(const PublicKey& key,
                                     const std::string& name, Millis now) {
  // The house user's; besides, a point for which anybody can make signatures.
  if (key.is_zero()) {
    throw Error(ErrorKind::denied, "register account: not a usable key");
  }
  expect_free(name, "register account");
  auto known = user_by_key_.find(key);
  if (known != user_by_key_.end()) {
    User& user = users_.at(known->second);
    expect_not_deleted(user.id, "register account");
    if (!name.empty() && !user.has_given_name) {
      rename(user, told_apart(name, key, user.id));
    }
    return user;
  }
  User user;
  user.key = key;
  user.name = name.empty() ? "volunteer " + digits_of(key)
                           : told_apart(name, key, kNobody);
  user.created = now;
  user.id = store_.insert_user(user);
  user_by_key_[key] = user.id;
  names_.take(user.name, user.id);
  return users_[user.id] = user;
}

Host& HostTable::register_host(const Host& host, const PublicKey& account,
                               Millis now) {
  auto user = user_by_key_.find(account);
  if (user == user_by_key_.end()) {
    throw Error(ErrorKind::denied, "register host: unknown account " +
                                       account.hex().substr(0, 8) +
                                       ": register the account first");
  }
  return register_host_of(user->second, host, now);
}

Host& HostTable::register_house_host(const Host& host, Millis now) {
  return register_host_of(kHouseUser, host, now);
}

Host& HostTable::register_host_of(UserId user, const Host& host, Millis now) {
  expect_not_deleted(user, "register host");
  auto known = host_by_key_.find(host.key);
  if (known != host_by_key_.end()) {
    Host& old = *host_by_id_.at(known->second);
    if (old.user_id != user) {
      throw Error(ErrorKind::denied,
                  "register host: this host key belongs to another account: "
                  "remove host.key to make a new one");
    }
    // The operator goes on knowing the host by the name that it had.
    const bool says_more =
        host.has_chosen_name || host.name != neutral_host_name(host.key);
    if (says_more) old.name = host.name;
    old.has_chosen_name = host.has_chosen_name;
    old.platform = host.platform;
    changed(old.id);
    return old;
  }
  expect_not_banned(user);
  if (user != kHouseUser && hosts_of(user).size() >= max_hosts_of_user_) {
    throw Error(ErrorKind::denied,
                fmt::format("register host: this account has {} hosts, the "
                            "most that it may have",
                            hosts_of(user).size()));
  }
  Host fresh = host;
  fresh.user_id = user;
  fresh.created = now;
  fresh.last_seen = now;
  fresh.id = store_.insert_host(fresh);
  return add(fresh);
}

void HostTable::expect_not_banned(UserId id) const {
  const std::string& reason = users_.at(id).ban_reason;
  if (reason.empty()) return;
  throw Error(ErrorKind::denied,
              "register host: this account is banned from the project: " +
                  reason + ": ask its operator");
}

void HostTable::expect_not_deleted(UserId id, const char* what) const {
  if (users_.at(id).deleted == 0) return;
  throw Error(ErrorKind::denied,
              fmt::format("{}: this account was deleted: detach, or move "
                          "account.key and host.key away to begin as somebody "
                          "new",
                          what));
}

void HostTable::give_name(UserId id, const std::string& name) {
  expect_free(name, "rename account");
  if (!names_.is_free_for(id, name)) {
    throw Error(ErrorKind::denied,
                "rename account: another volunteer has this name, or one that "
                "looks like it: choose another");
  }
  User& user = users_.at(id);
  rename(user, name);
  user.has_given_name = true;
  dirty_users_.insert(id);
}

// Of older projects two may share one: nobody loses it by coming again.
std::string HostTable::told_apart(const std::string& name, const PublicKey& key,
                                  UserId user) const {
  const auto known = users_.find(user);
  if (known != users_.end() && known->second.name == name) return name;
  if (names_.is_free_for(user, name)) return name;
  const std::string digits = fmt::format(" ({})", digits_of(key));
  return protocol::plain_text(name, protocol::kMaxName - digits.size()) +
         digits;
}

void HostTable::rename(User& user, const std::string& name) {
  if (user.name == name) return;
  names_.give_up(user.name, user.id);
  names_.take(name, user.id);
  user.name = name;
  dirty_users_.insert(user.id);
}

void HostTable::delete_user(UserId id, Millis now) {
  User& user = users_.at(id);
  rename(user, fmt::format("deleted-{}", id));
  user.has_given_name = true;
  user.deleted = now;
  user.ban_reason.clear();
  dirty_users_.insert(id);
  for (HostId of_user : hosts_of(id)) {
    Host& host = *host_by_id_.at(of_user);
    host.name = neutral_host_name(host.key);
    host.has_chosen_name = false;
    host.platform.clear();
    host.device.clear();
    blocks_.erase(of_user);
    changed(of_user);
  }
}

void HostTable::set_ban_reason(UserId id, const std::string& reason) {
  users_.at(id).ban_reason = reason;
  dirty_users_.insert(id);
}

void HostTable::change_key(Host& host, const PublicKey& key) {
  if (key.is_zero() || !host_by_key_.emplace(key, host.id).second) {
    throw Error(ErrorKind::denied,
                fmt::format("host {}: key {} belongs to another host", host.id,
                            key.hex().substr(0, 8)));
  }
  host_by_key_.erase(host.key);
  host.key = key;
  changed(host.id);
}

Host* HostTable::host(HostId id) {
  auto found = host_by_id_.find(id);
  return found == host_by_id_.end() ? nullptr : found->second;
}

const Host* HostTable::host(HostId id) const {
  auto found = host_by_id_.find(id);
  return found == host_by_id_.end() ? nullptr : found->second;
}

Host* HostTable::host_by_key(const PublicKey& key) {
  auto found = host_by_key_.find(key);
  return found == host_by_key_.end() ? nullptr : host(found->second);
}

const User* HostTable::user(UserId id) const {
  auto found = users_.find(id);
  return found == users_.end() ? nullptr : &found->second;
}

const User* HostTable::user_by_key(const PublicKey& key) const {
  auto found = user_by_key_.find(key);
  return found == user_by_key_.end() ? nullptr : user(found->second);
}

void HostTable::touch(Host& host, Instant now, Millis wall) {
  presence_.at(host.door).hear(host.id, now);
  if (wall - host.last_seen >= kTouchEveryMs || wall < host.last_seen) {
    host.last_seen = wall;
    changed(host.id);
  }
}

void HostTable::note_machine(Host& host, const std::string& device,
                             double speed_flops) {
  if (!device.empty() && host.device != device) {
    host.device = device;
    changed(host.id);
  }
  // Goes to the store when the host is next seen: for people, not for
  // decisions.
  host.speed_flops = speed_flops;
}

const std::string& HostTable::block(HostId id) const {
  static const std::string kUnknown;
  auto found = blocks_.find(id);
  return found == blocks_.end() ? kUnknown : found->second.text;
}

void HostTable::note_block(HostId id, const std::string& block, Instant now) {
  blocks_[id] = {block, now};
  if (now < next_forgetting_) return;
  next_forgetting_ = now + kForgetBlocksEvery;
  std::erase_if(blocks_, [now](const auto& entry) {
    return entry.second.noted + kBlockKept <= now;
  });
}

void HostTable::add_credit(HostId id, double credit, Millis granted,
                           Millis now) {
  Host& host = *host_by_id_.at(id);
  User& user = users_.at(host.user_id);
  host.credit += credit;
  host.recent = add_recent(host.recent, credit, granted, now);
  user.credit += credit;
  user.recent = add_recent(user.recent, credit, granted, now);
  changed(id);
  dirty_users_.insert(host.user_id);
}

void HostTable::flush() {
  std::vector<Host> hosts;
  for (HostId id : dirty_hosts_) hosts.push_back(*host_by_id_.at(id));
  std::vector<User> users;
  for (UserId id : dirty_users_) users.push_back(users_.at(id));
  if (!hosts.empty()) store_.update_hosts(hosts);
  if (!users.empty()) store_.update_users(users);
  dirty_hosts_.clear();
  dirty_users_.clear();
}

}  // namespace quorate

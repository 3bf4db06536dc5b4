// The store in memory: users and their hosts, and other projects.
#include <cstring>

#include "server/store/memory/memory_store.h"
#include "server/store/memory/refuse.h"

namespace quorate {

std::size_t MemoryStore::FirstBytes::operator()(const PublicKey& key) const {
  std::size_t value = 0;
  std::memcpy(&value, key.bytes.data(), sizeof value);
  return value;
}

void MemoryStore::take_key(Keys& keys, const PublicKey& key, std::int64_t id) {
  if (keys.contains(key)) refuse("another has the key {}", key.hex());
  undo_.put(keys, key, id);
}

void MemoryStore::change_key(Keys& keys, const PublicKey& from,
                             const PublicKey& to, std::int64_t id) {
  if (from == to) return;
  take_key(keys, to, id);
  undo_.erase(keys, from);
}

UserId MemoryStore::insert_user(const User& user) {
  changing();
  User row = user;
  row.id = users_.next_id();
  take_key(user_keys_, row.key, row.id);
  return add(users_, std::move(row)).id;
}

void MemoryStore::update_users(std::span<const User> users) {
  UndoLog& undo = changing();
  for (const User& user : users) {
    expect_user(user.id);
    User& row = *users_.find(user.id);
    change_key(user_keys_, row.key, user.key, user.id);
    undo.set(row, user);
  }
}

std::optional<User> MemoryStore::user_by_key(const PublicKey& key) {
  auto found = user_keys_.find(key);
  return found == user_keys_.end() ? std::nullopt : user(found->second);
}

std::optional<User> MemoryStore::user(UserId id) {
  const User* row = users_.find(id);
  return row == nullptr ? std::nullopt : std::optional(*row);
}

std::vector<User> MemoryStore::users() {
  std::vector<User> all;
  users_.each([&](const User& user) { all.push_back(user); });
  return all;
}

void MemoryStore::forget_user(UserId id) {
  UndoLog& undo = changing();
  const auto account = accounts_.find(id);
  if (account != accounts_.end()) {
    undo.erase(emails_, account->second.email);
    undo.erase(accounts_, id);
  }
  std::set<HostId> hosts;
  hosts_.each([&](MemoryHost& host) {
    if (host.row.user_id != id) return;
    hosts.insert(host.row.id);
    undo.set(host.boinc, std::nullopt);
    undo.set(host.devices, {});
  });
  for (Event& event : events_) {
    const bool names_it =
        event.kind.starts_with("host_") || event.kind == "result_failed";
    if (names_it && hosts.contains(event.host)) undo.set(event.text, "");
  }
  results_.each([&](Result& result) {
    if (result.outcome == ResultOutcome::client_error &&
        hosts.contains(result.host)) {
      undo.set(result.reason, "");
    }
  });
}

HostId MemoryStore::insert_host(const Host& host) {
  changing();
  expect_user(host.user_id);
  MemoryHost row;
  row.row = host;
  row.row.id = hosts_.next_id();
  take_key(host_keys_, host.key, row.row.id);
  return add(hosts_, std::move(row)).row.id;
}

void MemoryStore::update_hosts(std::span<const Host> hosts) {
  UndoLog& undo = changing();
  for (const Host& host : hosts) {
    Host& row = host_of(host.id).row;
    expect_user(host.user_id);
    change_key(host_keys_, row.key, host.key, host.id);
    undo.set(row, host);
  }
}

std::optional<Host> MemoryStore::host_by_key(const PublicKey& key) {
  auto found = host_keys_.find(key);
  if (found == host_keys_.end()) return std::nullopt;
  return host_of(found->second).row;
}

std::vector<Host> MemoryStore::hosts() {
  std::vector<Host> all;
  hosts_.each([&](const MemoryHost& host) { all.push_back(host.row); });
  return all;
}

void MemoryStore::replace_device_records(
    std::span<const DeviceRecord> records) {
  UndoLog& undo = changing();
  for (const DeviceRecord& record : records) {
    undo.put(host_of(record.host).devices, {record.device, record.arithmetic},
             record);
  }
}

std::vector<DeviceRecord> MemoryStore::device_records() {
  std::vector<DeviceRecord> all;
  hosts_.each([&](const MemoryHost& host) {
    for (const auto& [device, record] : host.devices) all.push_back(record);
  });
  return all;
}

std::vector<HostShare> MemoryStore::shares_of(HostId host) {
  std::vector<HostShare> found;
  const MemoryHost* row = hosts_.find(host);
  if (row == nullptr) return found;
  for (const auto& [run, share] : row->shares) found.push_back(share);
  return found;
}

void MemoryStore::insert_boinc_account(const BoincAccount& account) {
  UndoLog& undo = changing();
  expect_user(account.user);
  if (accounts_.contains(account.user)) {
    refuse("user {} has an account", account.user);
  }
  if (!account.email.empty()) {
    if (emails_.contains(account.email)) {
      refuse("another account has this e-mail address");
    }
    undo.insert(emails_, account.email);
  }
  undo.put(accounts_, account.user, account);
}

std::vector<BoincAccount> MemoryStore::boinc_accounts() {
  std::vector<BoincAccount> all;
  for (const auto& [user, account] : accounts_) all.push_back(account);
  return all;
}

void MemoryStore::replace_boinc_hosts(std::span<const BoincHost> hosts) {
  UndoLog& undo = changing();
  for (const BoincHost& host : hosts) undo.set(host_of(host.host).boinc, host);
}

std::vector<BoincHost> MemoryStore::boinc_hosts() {
  std::vector<BoincHost> all;
  hosts_.each([&](const MemoryHost& host) {
    if (host.boinc) all.push_back(*host.boinc);
  });
  return all;
}

PeerId MemoryStore::insert_peer(const Peer& peer) {
  UndoLog& undo = changing();
  run_of(peer.run);
  Peer row = peer;
  undo.set(last_peer_, last_peer_ + 1);
  row.id = last_peer_;
  undo.put(peers_, row.id, row);
  return row.id;
}

void MemoryStore::update_peer(const Peer& peer) {
  UndoLog& undo = changing();
  if (!peers_.contains(peer.id)) refuse("there is no peer {}", peer.id);
  run_of(peer.run);
  undo.put(peers_, peer.id, peer);
}

void MemoryStore::remove_peer(PeerId id) {
  changing().erase(peers_, id);
}

std::vector<Peer> MemoryStore::peers() {
  std::vector<Peer> all;
  for (const auto& [id, peer] : peers_) all.push_back(peer);
  return all;
}

void MemoryStore::replace_allowed_peer(const AllowedPeer& peer) {
  changing().put(allowed_peers_, peer.fingerprint, peer);
}

void MemoryStore::remove_allowed_peer(const std::string& fingerprint) {
  changing().erase(allowed_peers_, fingerprint);
}

std::vector<AllowedPeer> MemoryStore::allowed_peers() {
  std::vector<AllowedPeer> all;
  for (const auto& [fingerprint, peer] : allowed_peers_) all.push_back(peer);
  return all;
}

}  // namespace quorate

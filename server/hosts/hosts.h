// Users and hosts in memory, as the store has them. Used by the writer's thread
// only.
//
// The room server/hosts answers who computes: users and hosts, their trust, who
// is there, who rests, how many may join. It owns the rows of users, hosts and
// device records (changes go to the store with flush(), at the end of a job)
// and what is forgotten at a restart (presence, rests, limits). It may include
// settings and the store.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/clock.h"
#include "server/hosts/look_alike.h"
#include "server/hosts/presence.h"
#include "server/store/store.h"
#include "workunits/workunit.h"

namespace quorate {

class HostTable {
 public:
  HostTable(Store& store, std::size_t max_hosts_of_user);

  // Registering again changes the name only, unless the operator gave it one.
  // Whoever comes with a name that looks like another's gets digits of the key
  // after it: "Ann (5f2c9a1e)". Throws denied for the zero key, for a reserved
  // name, and for an account that was deleted.
  const User& register_user(const PublicKey& key, const std::string& name,
                            Millis now);
  // Throws denied if the account is unknown or has all the hosts that it may
  // have, or the host key belongs to another account; for a new host, also if
  // the account is banned.
  Host& register_host(const Host& host, const PublicKey& account, Millis now);
  // Of a user whom its door knows otherwise than by a key.
  Host& register_host_of(UserId user, const Host& host, Millis now);
  // The host that stands for the server's own workers.
  Host& register_house_host(const Host& host, Millis now);
  // From now on its results are signed with this key. Throws denied if it is
  // another host's.
  void change_key(Host& host, const PublicKey& key);
  // By the operator. Throws denied for a reserved name and for one that looks
  // like another's. The user must exist.
  void give_name(UserId user, const std::string& name);
  // Its name becomes "deleted-ID", its hosts' neutral; what they are and where
  // they were is forgotten. It registers no more, and no hosts.
  void delete_user(UserId user, Millis now);
  // A banned account registers no more hosts; those that it has are not
  // touched. Empty: it may again. The user must exist.
  void set_ban_reason(UserId user, const std::string& reason);

  // nullptr if unknown.
  Host* host(HostId id);
  const Host* host(HostId id) const;
  Host* host_by_key(const PublicKey& key);
  // Pointers stay valid: rows are never removed.
  const User* user(UserId id) const;
  const User* user_by_key(const PublicKey& key) const;
  const std::map<HostId, Host>& hosts() const { return hosts_; }
  const std::map<UserId, User>& users() const { return users_; }
  // Users with hosts, but for the house's.
  const std::vector<UserId>& volunteers() const { return volunteers_; }
  const std::vector<HostId>& hosts_of(UserId user) const;

  // Marks that the host was heard from.
  void touch(Host& host, Instant now, Millis wall);
  // What it asks for work with. device: empty if it does not say.
  void note_machine(Host& host, const std::string& device, double speed_flops);
  // The block of addresses that it last asked from (see server/http/text);
  // empty: unknown, or one that says nothing. In memory only, and forgotten
  // once the host was silent for kBlockKept, when another one is next noted.
  void note_block(HostId id, const std::string& block, Instant now);
  // So that it outlasts what a host may take for its units.
  static constexpr Seconds kBlockKept{7 * 86400.0};
  const std::string& block(HostId id) const;
  // The hosts of one door, which may all be silent for as long.
  // door must be one of the three.
  Presence& presence(const std::string& door) { return presence_.at(door); }
  const Presence& presence(const std::string& door) const {
    return presence_.at(door);
  }

  // Also to its user. Negative: what was granted then is taken back.
  void add_credit(HostId host, double credit, Millis granted, Millis now);
  // Remembers that a row changed; flush() writes all such rows at once.
  void changed(HostId id) { dirty_hosts_.insert(id); }
  void flush();

 private:
  Host& add(const Host& host);
  std::string told_apart(const std::string& name, const PublicKey& key,
                         UserId user) const;
  void rename(User& user, const std::string& name);
  void expect_not_banned(UserId user) const;
  void expect_not_deleted(UserId user, const char* what) const;

  Store& store_;
  std::size_t max_hosts_of_user_;
  std::map<UserId, User> users_;
  NamesInUse names_;
  std::map<HostId, Host> hosts_;
  std::unordered_map<HostId, Host*> host_by_id_;  // the same, found at once
  std::vector<UserId> volunteers_;
  std::map<UserId, std::vector<HostId>> hosts_of_;
  std::map<PublicKey, UserId> user_by_key_;
  std::map<PublicKey, HostId> host_by_key_;
  std::map<std::string, Presence> presence_{
      {kNativeDoor, {}}, {kBoincDoor, {}}, {kHouseDoor, {}}};
  struct Block {
    std::string text;
    Instant noted;
  };
  std::map<HostId, Block> blocks_;
  Instant next_forgetting_{};
  std::set<HostId> dirty_hosts_;
  std::set<UserId> dirty_users_;
};

}  // namespace quorate

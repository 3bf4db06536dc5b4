// Accounts of those who come by the BOINC door. Such an account has no key: who
// knows its authenticator has it, as BOINC wants it. The authenticator is made
// of the account's row and a secret of the server, so that a copy of the store
// alone lets nobody in. Used by the writer's thread only.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "protocol/boinc/signatures.h"
#include "server/state/project_state.h"

namespace quorate::boinc {

class BoincAccounts {
 public:
  // secret: of the server, kept with its keys.
  BoincAccounts(ProjectState& state, const UploadKey& secret);

  // The account with this authenticator, or nullopt.
  std::optional<UserId> find(const std::string& authenticator) const;
  // nullptr if there is none with this address (in lower case).
  const BoincAccount* with_email(const std::string& email) const;
  // Makes an account; sets its user. Throws denied if the name is one of the
  // server's own.
  const BoincAccount& add(const std::string& name, BoincAccount account);

  // 32 hexadecimal digits.
  std::string authenticator(const BoincAccount& account) const;

 private:
  bool is_deleted(UserId user) const;
  // Enters it into the three indexes.
  void keep(BoincAccount account);

  ProjectState& state_;
  UploadKey secret_;
  std::map<UserId, BoincAccount> accounts_;
  // By the hash of it: how long a search takes says nothing about it.
  std::unordered_map<Hash, UserId> by_authenticator_;
  std::map<std::string, UserId> by_email_;
};

}  // namespace quorate::boinc

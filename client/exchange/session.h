// The agent's standing with one project: who it is, and the token that says so.
#pragma once

#include <functional>
#include <mutex>
#include <string>

#include "base/crypto.h"
#include "client/folder/data_folder.h"
#include "protocol/native/messages.h"
#include "workunits/sealed.h"

namespace quorate::client {

// Who speaks: fixed while the agent runs.
struct Identity {
  ProjectId project;
  PrivateKey account;
  PrivateKey host;
  std::string user_name;
  std::string host_name;
  std::string platform;
  bool is_name_chosen = false;  // the host's: it may be public
};
// This computer as the project is to know it: by the name that its owner chose,
// else by a neutral one. Makes the keys if there are none.
Identity identity_of(const DataFolder& folder, const Project& project);

// The token that all connections of the agent share. Safe to use from several
// threads: the first that finds it expired renews it, the others wait.
// In memory: an agent that starts opens a new one.
class Session {
 public:
  // Empty before the first.
  std::string token() const;
  // How often the project wants to hear from us.
  Seconds heartbeat() const;
  // Number of the project's keyring, as the server said.
  std::uint64_t keys() const;
  // The token in place of `stale`; calls `open` unless somebody already has.
  // Throws what `open` throws.
  std::string renew(const std::string& stale,
                    const std::function<protocol::SessionReply()>& open);

 private:
  mutable std::mutex mutex_;
  std::mutex renewing_;
  protocol::SessionReply current_;
};

}  // namespace quorate::client

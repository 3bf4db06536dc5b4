// What is kept of users and hosts that come by the BOINC door, beside what
// every user and host has. Data only.
#pragma once

#include <cstdint>
#include <string>

#include "base/crypto.h"
#include "workunits/host.h"

namespace quorate {

struct BoincAccount {
  UserId user = 0;
  std::string email;  // in lower case; empty: known by its authenticator alone
  // Random: of the authenticator, and of the password's hash.
  FixedBytes<16> salt;
  Hash password;  // slow_hash of what a client sends for it; zero: none
};

struct BoincHost {
  HostId host = 0;
  std::string cpid;  // what the client calls the machine
  // Of the last request: a smaller one comes from a copy of the client's
  // folder.
  std::uint32_t rpc_seqno = 0;
};

}  // namespace quorate

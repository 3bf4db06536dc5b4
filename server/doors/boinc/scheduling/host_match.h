// Which of an account's hosts a BOINC client is. Clients name themselves; what
// they say may be old, or copied with their folder. Pure.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "workunits/boinc_rows.h"

namespace quorate::boinc {

// What a request says of the client.
struct HostClaim {
  HostId hostid = 0;  // as it was told; 0: it has none
  std::string cpid;   // of the machine; empty: unknown
  std::uint32_t rpc_seqno = 0;
  // Several clients share the machine, so that its cpid is not theirs alone.
  bool has_company = false;
};

// The host that it is, or 0: a new one. `of_account`: all hosts of its account
// that came by this door, in order of id.
//
// A client that counts fewer requests than it had made before is a copy of its
// folder: the copy becomes another host, whatever its cpid. A client without an
// id is the last host with its cpid, set up anew.
HostId match_host(const HostClaim& claim,
                  std::span<const BoincHost> of_account);

}  // namespace quorate::boinc

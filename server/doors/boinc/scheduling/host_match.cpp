#include "server/doors/boinc/scheduling/host_match.h"

namespace quorate::boinc {

HostId match_host(const HostClaim& claim,
                  std::span<const BoincHost> of_account) {
  HostId with_cpid = 0;
  for (const BoincHost& host : of_account) {
    if (host.host == claim.hostid) {
      return claim.rpc_seqno < host.rpc_seqno ? 0 : host.host;
    }
    if (!claim.cpid.empty() && host.cpid == claim.cpid) with_cpid = host.host;
  }
  return claim.has_company ? 0 : with_cpid;
}

}  // namespace quorate::boinc

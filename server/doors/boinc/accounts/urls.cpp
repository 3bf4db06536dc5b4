#include "server/doors/boinc/accounts/urls.h"

#include "base/error.h"
#include "server/http/text.h"
#include "server/settings/address.h"

namespace quorate::boinc {

std::string master_url(const ServerSettings& settings, const Request& request,
                       bool is_tls) {
  std::string base = settings.url;
  if (base.empty()) {
    const std::string host(request.header("host"));
    base = (is_tls ? "https://" : "http://") + host;
    if (!is_host(host) || !is_public_url(base)) {
      throw Error(ErrorKind::usage,
                  "this server does not know its own address: its operator "
                  "must set `url`, or the request must name it (Host)");
    }
  }
  while (base.ends_with('/')) base.pop_back();
  return base + kMasterPath;
}

}  // namespace quorate::boinc

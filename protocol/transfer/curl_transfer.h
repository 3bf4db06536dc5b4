// Transfer over libcurl: kept connections, TLS with a pinned key, deadlines,
// prompt abandoning.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "protocol/transfer/transfer.h"

namespace quorate {

// Whom to believe to be the server of an https URL.
enum class TlsTrust {
  authorities,  // the system's certificate authorities
  pinned,       // exactly the key that the project statement names
  // Nobody is checked: for the first fetch of a statement, which proves itself
  // by its fingerprint.
  unchecked,
};

struct CurlOptions {
  std::string base_url;  // "https://host:port"
  TlsTrust trust = TlsTrust::authorities;
  std::string pin;             // "sha256//..." if pinned
  Network* network = nullptr;  // to be obeyed and counted in; outlives all
  std::string user_agent = "quorate-client";
  // False: directly, whatever proxy the environment names. It leads out of the
  // local network.
  bool may_use_proxy = true;
};

std::unique_ptr<Transfer> make_curl_transfer(const CurlOptions& options);
using TransferMaker =
    std::function<std::unique_ptr<Transfer>(const CurlOptions&)>;

}  // namespace quorate

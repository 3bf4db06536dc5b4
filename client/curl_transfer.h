// Transfer over libcurl: kept connections, TLS with a pinned key, deadlines,
// prompt abandoning. The only user of libcurl.
#pragma once

#include <memory>
#include <string>

#include "client/transfer.h"

namespace quorate::client {

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
};

std::unique_ptr<Transfer> make_curl_transfer(const CurlOptions& options);

}  // namespace quorate::client

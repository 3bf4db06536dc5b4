#include "client/attach.h"

#include <fmt/format.h>

#include "base/arithmetic.h"
#include "base/error.h"
#include "client/project_api.h"

namespace quorate::client {
namespace {

Project fetch_with(const CurlOptions& options, const TransferMaker& make) {
  try {
    Project project = open_statement(fetch_statement(*make(options)));
    project.url = options.base_url;
    return project;
  } catch (const Error& e) {
    throw Error(e.kind(),
                fmt::format("attach to {}: {}: check the address, and that the "
                            "server is running",
                            options.base_url, e.what()));
  }
}

}  // namespace

CurlOptions curl_options(const Project& project) {
  CurlOptions options;
  options.base_url = project.url;
  if (!project.statement.tls_pin.empty()) {
    options.trust = TlsTrust::pinned;
    options.pin = project.statement.tls_pin;
  }
  return options;
}

Project fetch_project(const ProjectAddress& address,
                      const TransferMaker& make) {
  CurlOptions first{address.url, TlsTrust::unchecked, ""};
  Project project = fetch_with(first, make);
  if (!matches(address.fingerprint, project.id)) {
    throw Error(
        ErrorKind::denied,
        fmt::format("attach to {}: expected project {}, found {}: ask "
                    "the project for its address and fingerprint",
                    address.url, address.fingerprint, fingerprint(project.id)));
  }
  if (project.statement.arithmetic != kArithmeticVersion) {
    throw Error(ErrorKind::unsupported,
                fmt::format("attach to {}: the project computes with "
                            "arithmetic {}, this client with {}: use a client "
                            "of the project's version",
                            address.url, project.statement.arithmetic,
                            kArithmeticVersion));
  }
  if (!address.is_encrypted()) return project;
  // Whoever relayed the statement could not change it; only now do we learn
  // whether the server itself holds the key that it names.
  Project again = fetch_with(curl_options(project), make);
  if (again.id != project.id) {
    throw Error(ErrorKind::denied,
                fmt::format("attach to {}: the project changed between two "
                            "requests: try again on another network",
                            address.url));
  }
  return again;
}

}  // namespace quorate::client

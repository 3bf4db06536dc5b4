// How people name a project: URL#FINGERPRINT.
#pragma once

#include <string>
#include <string_view>

#include "workunits/sealed.h"

namespace quorate {

struct ProjectAddress {
  std::string url;          // "https://host:port", without a last slash
  std::string fingerprint;  // lower case, 32 to 64 digits; empty: not given

  bool is_encrypted() const { return url.rfind("https://", 0) == 0; }
};

// Reads URL[#FINGERPRINT]; "https://" is understood when no scheme is given,
// and for the links of projects' pages, quorate://HOST:PORT#FINGERPRINT. Blanks
// and dashes in a fingerprint are ignored. Throws usage, saying what is wrong,
// for another scheme, no host, or a fingerprint that is too short.
ProjectAddress parse_project_address(std::string_view text);

// True if `fingerprint` is a beginning of the project's id.
bool matches(std::string_view fingerprint, const ProjectId& project);

}  // namespace quorate

// Where the BOINC door is. Clients keep these addresses for as long as they are
// attached, and the master URL is the project's identity to them: a project
// that moves has to answer here. Pure.
#pragma once

#include <string>

#include "server/http/message.h"
#include "server/settings/settings.h"

namespace quorate::boinc {

// All paths of this door are below it.
inline constexpr const char* kMasterPath = "/boinc/";

// The master URL, which names the project to its clients: below the settings'
// `url`, or else below what the client has called this server.
std::string master_url(const ServerSettings& settings, const Request& request,
                       bool is_tls);

inline std::string scheduler_url(const std::string& master) {
  return master + "cgi";
}
inline std::string upload_url(const std::string& master) {
  return master + "file_upload_handler";
}
inline std::string download_url(const std::string& master,
                                const std::string& file) {
  return master + "download/" + file;
}

}  // namespace quorate::boinc

// The page at a project's address: for people who come to it, and for BOINC
// clients, which look in it for the scheduler.
// server/page/dashboard/boinc.html.
#pragma once

#include <string>

namespace quorate::boinc {

// project: its name, any text; master: its URL. Throws corrupt for a URL that
// would break the page.
std::string master_page(const std::string& project, const std::string& master);

}  // namespace quorate::boinc

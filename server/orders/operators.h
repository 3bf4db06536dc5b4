// Who may give orders: the owner of the project (whose process serves it),
// root, and the Unix users that the settings name. Who it is says the kernel,
// of the process at the other end of the admin socket; nobody can say
// otherwise.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "server/settings/settings.h"

namespace quorate {

// A Unix user. name: "1234" for one without a name.
struct Person {
  std::uint32_t id = 0;
  std::string name;
};
Person person_of(std::uint32_t user);
// Who runs this process.
Person this_person();

// True for a command that changes nothing; a guest may give those alone. One
// that is not known here changes something.
bool only_asks(const std::string& command, const nlohmann::json& arguments);

// Throws denied, saying what to do, if the settings do not let this person give
// the order. owner: the user whose process serves the project.
void expect_may_order(const Person& who, std::uint32_t owner,
                      const ServerSettings& settings, bool only_asks);

// The same of somebody who logged in to the page for administration, as
// "web:NAME".
void expect_may_order(const std::string& who, bool is_guest, bool only_asks);

}  // namespace quorate

// Checks a name, a password and a one-time code. One login after the other: a
// password takes 50 ms and 16 MiB, so that nobody guesses many, and so that a
// flood of logins takes one processor at most.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/file.h"
#include "server/http/clients/places.h"
#include "server/web/login_limit.h"
#include "server/web/web_operators.h"

namespace quorate {

struct Login {
  std::string name;
  std::string password;
  std::string code;
};
// {"name", "password", "code"}. Throws corrupt.
Login parse_login(std::string_view body);

struct LoginAnswer {
  std::optional<WebOperator> who;
  // nobody: how long to wait before it is looked at again; 0: it was looked at.
  Seconds wait{0};
};

// Used by one thread.
class Logins {
 public:
  // file: ProjectFolder::web_operators().
  Logins(fs::path file, const Clock& clock);

  // places: where it comes from (places_of). A code is good once, and none that
  // was shown before this object was made: what was used before a restart is
  // not remembered, so nothing of then is taken.
  LoginAnswer check(const Login& login, const Places& places);

 private:
  Seconds wait_of(const Login& login, const Places& places) const;
  bool is_right(const WebOperator* known, const Login& login);

  fs::path file_;
  const Clock& clock_;
  LoginLimit by_place_;
  LoginLimit by_name_;
  std::uint64_t began_;                        // code_step() of its beginning
  std::map<std::string, std::uint64_t> used_;  // last step, by name
};

}  // namespace quorate

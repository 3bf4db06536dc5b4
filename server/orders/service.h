// What the admin CLI can ask of a project, by name: the same whether a server
// runs (over its admin socket) or the CLI opened the project itself.
//
// The room server/orders has one function for each command. It owns nothing; a
// function runs on the writer's thread, in one transaction, and throws usage
// before its first change. It may include server/project and server/page. A new
// command is a row of commands() here, and a file in server/cli that asks for
// it.
#pragma once

#include <functional>
#include <string>

#include <nlohmann/json_fwd.hpp>

#include "server/http/router.h"
#include "server/orders/operators.h"
#include "server/project/project.h"

namespace quorate {

class AdminService {
 public:
  explicit AdminService(Project& project) : project_(project) {}

  // Any thread. arguments: an object. Throws usage for an unknown command or
  // argument, else what the command throws. A command that changes something is
  // noted in the order log, as who's. Whether they may is not asked here.
  nlohmann::json call(const std::string& command,
                      const nlohmann::json& arguments,
                      const Person& who = this_person());

  // The same for those who do not wait: once it is durable, `done` is called on
  // the writer's thread, with the answer or the error response. If the writer
  // fails it never is.
  void post(const std::string& command, nlohmann::json arguments, Person who,
            std::function<void(Response)> done);

  // POST /admin/COMMAND with the arguments as body. Throws denied for a Unix
  // user who may not.
  void add_routes(Router& router);

 private:
  // On the writer's thread.
  nlohmann::json carry_out(const std::string& command,
                           const nlohmann::json& arguments, const Person& who);

  Project& project_;
};

}  // namespace quorate

// One way to ask a project: through the running server's socket, or, when none
// runs, by opening the project for the length of this command.
//
// The room server/cli/support has what several commands need: this client,
// tables, progress, interrupts. It may include server/project and
// server/orders.
#pragma once

#include <memory>
#include <string>

#include <nlohmann/json_fwd.hpp>

#include "base/file.h"
#include "server/orders/service.h"

namespace quorate {

// One per command, used by its thread. Once a server has answered, a server
// that leaves is an error (unavailable): the project is then not opened behind
// its back.
class AdminClient {
 public:
  explicit AdminClient(fs::path root) : root_(std::move(root)) {}
  ~AdminClient();

  // Throws what the command throws, with the same kind and text.
  // command: a name that AdminService knows. arguments: an object. Waits for
  // the answer, however long. A project that is opened here stays open until
  // the client is destroyed, under its lock.
  nlohmann::json call(const std::string& command,
                      const nlohmann::json& arguments);

  const fs::path& root() const { return root_; }
  // A running server has answered.
  bool is_served() const { return is_served_; }

 private:
  nlohmann::json call_here(const std::string& command,
                           const nlohmann::json& arguments);

  fs::path root_;
  bool is_served_ = false;  // by a running server, so far
  std::unique_ptr<Project> project_;
};

}  // namespace quorate

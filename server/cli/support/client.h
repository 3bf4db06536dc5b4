// One way to ask a project: through the running server's socket, or, when none
// runs, by opening the project for the length of this command.
#pragma once

#include <memory>
#include <string>

#include <nlohmann/json_fwd.hpp>

#include "base/file.h"
#include "server/orders/service.h"

namespace quorate {

class AdminClient {
 public:
  explicit AdminClient(fs::path root) : root_(std::move(root)) {}
  ~AdminClient();

  // Throws what the command throws, with the same kind and text.
  nlohmann::json call(const std::string& command,
                      const nlohmann::json& arguments);

  const fs::path& root() const { return root_; }

 private:
  nlohmann::json call_here(const std::string& command,
                           const nlohmann::json& arguments);

  fs::path root_;
  bool is_served_ = false;  // by a running server, so far
  std::unique_ptr<Project> project_;
};

}  // namespace quorate

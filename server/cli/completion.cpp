// completion: what a shell may offer on the operator's command line.
#include "commandline/completion.h"

#include <nlohmann/json.hpp>

#include "server/cli/commands.h"
#include "server/cli/support/client.h"

namespace quorate {
namespace {

using nlohmann::json;
using Names = std::vector<std::string>;

// Only of a running server: to open a project for a press of the tab key would
// take its lock, and long.
Names rows(const ProjectFolder& folder, const std::string& command,
           const std::string& key) {
  Names names;
  if (!fs::exists(folder.admin_socket())) return names;
  for (const json& row :
       AdminClient(folder.root).call(command, json::object())) {
    const json& name = row.at(key);
    names.push_back(name.is_string() ? name.get<std::string>() : name.dump());
  }
  return names;
}

Names names_of(const ProjectFolder& folder, const std::string& list) {
  if (list == "datasets") return dataset_names(folder);
  if (list == "runs") return rows(folder, "train-list", "run");
  if (list == "hosts") return rows(folder, "hosts", "id");
  if (list == "users") return rows(folder, "users", "id");
  return {};
}

}  // namespace

void add_completion(CLI::App& app, GlobalOptions& global) {
  commandline::add_completion(app,
                              {{"RUN", "runs"},
                               {"--run", "runs"},
                               {"HOST", "hosts"},
                               {"--host", "hosts"},
                               {"USER", "users"},
                               {"--user", "users"},
                               {"DATASET", "datasets"},
                               {"--dataset", "datasets"}},
                              [&global](const std::string& list) {
                                return names_of(ProjectFolder{global.folder},
                                                list);
                              });
}

}  // namespace quorate

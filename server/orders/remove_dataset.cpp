#include "server/orders/remove_dataset.h"

#include <set>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "server/settings/operation_lock.h"

namespace quorate {
namespace {

using nlohmann::json;

void expect_unused(const ProjectState& state, const std::string& name) {
  for (const auto& [key, training] : state.runs) {
    if (training.run.dataset != name) continue;
    throw Error(
        ErrorKind::usage,
        fmt::format("dataset remove {}: it stays, because run {} was created "
                    "with it and that run's ledger names its shards",
                    name, training.run.name));
  }
}

std::set<Hash> shards_of(const DatasetManifest& manifest) {
  std::set<Hash> shards;
  for (const auto* part : {&manifest.train, &manifest.test}) {
    for (const ShardEntry& shard : *part) shards.insert(shard.hash);
  }
  return shards;
}

std::set<Hash> shards_of_others(const ProjectFolder& folder,
                                const std::string& name) {
  std::set<Hash> all;
  for (const std::string& other : dataset_names(folder)) {
    if (other != name) all.merge(shards_of(load_manifest(folder, other)));
  }
  return all;
}

}  // namespace

json remove_dataset(Project& project, const json& arguments) {
  const ProjectFolder& folder = project.folder();
  ProjectState& state = project.state();
  std::string name = arguments.value("dataset", "");
  std::set<Hash> shards = shards_of(load_manifest(folder, name));
  expect_unused(state, name);
  std::string command = "dataset remove " + name;
  const std::string removing = ", or old objects are being removed";
  FileLock backup = lock_for(command, folder.backup_lock(),
                             "a backup is being made" + removing);
  FileLock adding = lock_for(command, folder.datasets_lock(),
                             "a data set is being added" + removing);
  std::set<Hash> needed = shards_of_others(folder, name);
  // First what names the shards: in between, they only take space.
  fs::remove(folder.manifest(name));
  fs::remove(folder.picture(name));
  sync_folder(folder.datasets());
  std::uint64_t removed = 0;
  std::uint64_t bytes = 0;
  for (const Hash& shard : shards) {
    if (needed.contains(shard)) continue;
    bytes += state.objects.size(shard).value_or(0);
    state.objects.remove(shard);
    ++removed;
  }
  state.record("dataset_removed", 0, 0,
               fmt::format("data set {} was removed by the operator", name));
  return {{"dataset", name}, {"shards", removed}, {"bytes", bytes}};
}

}  // namespace quorate

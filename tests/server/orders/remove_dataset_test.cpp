#include "server/orders/remove_dataset.h"

#include <set>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "server/datasets/dataset.h"
#include "server/orders/service.h"
#include "tests/server/project_fixture.h"

namespace quorate {
namespace {

using nlohmann::json;

// A project with the data sets "tiny" and "big", and "same" with the shards of
// "tiny".
struct Folder {
  Folder() {
    create_project(folder, "Test", "");
    ObjectStore objects(folder.objects(), folder.temporary());
    tiny = test::tiny_dataset(objects);
    add(tiny, "tiny");
    add(tiny, "same");
    DatasetSource source;
    source.kind = "idx";
    source.shape = {2, 2, 1};
    source.classes = 2;
    for (std::uint8_t i = 0; i < 100; ++i) {
      source.train.images.insert(source.train.images.end(), 4, i);
      source.train.labels.push_back(i % 2);
    }
    big = build_dataset(source, {"big"}, objects);
    add(big, "big");
    write_file_durably(folder.datasets() / "big.png", as_bytes("a picture"));
    settings.house_workers = 0;
  }

  void add(DatasetManifest manifest, const std::string& name) const {
    manifest.name = name;
    write_file_durably(folder.datasets() / (name + ".json"),
                       as_bytes(to_json(manifest)));
  }

  std::unique_ptr<Project> open() {
    return std::make_unique<Project>(folder.root, settings, Roles{},
                                     [](const std::string&) {});
  }

  bool has_shards_of(const DatasetManifest& manifest) const {
    ObjectReader objects(folder.objects());
    bool has_all = true;
    for (const auto* part : {&manifest.train, &manifest.test}) {
      for (const ShardEntry& shard : *part) {
        has_all &= objects.contains(shard.hash);
      }
    }
    return has_all;
  }

  test::TemporaryFolder root;
  ProjectFolder folder{root.path() / "p"};
  ServerSettings settings;
  DatasetManifest tiny;
  DatasetManifest big;
};

Error refusal(AdminService& admin, const std::string& name) {
  try {
    admin.call("dataset-remove", {{"dataset", name}});
  } catch (const Error& error) {
    return error;
  }
  return Error(ErrorKind::io, "no error");
}

}  // namespace

TEST_CASE("a data set goes with its picture and the shards that only it has") {
  Folder folder;
  auto project = folder.open();
  AdminService admin(*project);
  json removed = admin.call("dataset-remove", {{"dataset", "big"}});
  CHECK(removed["shards"] == 2);  // of training and test part
  CHECK(removed["bytes"].get<std::uint64_t>() > 500);
  CHECK_FALSE(fs::exists(folder.folder.datasets() / "big.json"));
  CHECK_FALSE(fs::exists(folder.folder.datasets() / "big.png"));
  CHECK_FALSE(folder.has_shards_of(folder.big));
  CHECK(folder.has_shards_of(folder.tiny));

  removed = admin.call("dataset-remove", {{"dataset", "tiny"}});
  CHECK(removed["shards"] == 0);
  CHECK(folder.has_shards_of(folder.tiny));
  removed = admin.call("dataset-remove", {{"dataset", "same"}});
  CHECK(removed["shards"] == 2);
  CHECK_FALSE(folder.has_shards_of(folder.tiny));
}

TEST_CASE("a data set that a run has, or a backup copies, stays") {
  Folder folder;
  auto project = folder.open();
  AdminService admin(*project);
  admin.call("train-create",
             {{"run", "one"}, {"dataset", "tiny"}, {"model", "mlp:3"}});
  admin.call("train-stop", {{"run", "one"}});
  Error used = refusal(admin, "tiny");
  CHECK(used.kind() == ErrorKind::usage);
  CHECK(std::string(used.what()).find("run one was created with it") !=
        std::string::npos);
  {
    FileLock backup(folder.folder.backup_lock());
    CHECK(refusal(admin, "big").kind() == ErrorKind::unavailable);
  }
  {
    FileLock adding(folder.folder.datasets_lock());
    CHECK(refusal(admin, "big").kind() == ErrorKind::unavailable);
  }
  {
    // Whose shards it has cannot be told: nothing is removed.
    write_file_durably(folder.folder.datasets() / "odd.json", as_bytes("{"));
    CHECK(refusal(admin, "big").kind() == ErrorKind::corrupt);
    fs::remove(folder.folder.datasets() / "odd.json");
  }
  CHECK(refusal(admin, "none").kind() == ErrorKind::usage);
  CHECK(refusal(admin, "../tiny").kind() == ErrorKind::usage);
  for (const char* name : {"tiny", "same", "big"}) {
    CHECK(fs::exists(folder.folder.datasets() / (std::string(name) + ".json")));
  }
  CHECK(folder.has_shards_of(folder.tiny));
  CHECK(folder.has_shards_of(folder.big));
}

}  // namespace quorate

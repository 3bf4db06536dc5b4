// What a project's folder holds, by class and run: for `quorate storage` and
// /metrics. Looking takes a few microseconds for each file and each result.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "server/objects/object_uses.h"
#include "server/state/storage_row.h"
#include "workunits/objects/object_store.h"

namespace quorate {

class Storage {
 public:
  void add_object(const ObjectUse& use, std::uint64_t bytes);
  // One that add_object() counted was removed.
  void take_object(const ObjectUse& use, std::uint64_t bytes);
  // What is not among the objects: store, sealed tasks, uploads under way and
  // the rest of the folder.
  void add_other(const ProjectFolder& folder, StoreNames& names);

  // By run; rows of no run come last.
  std::vector<StorageRow> rows() const;

 private:
  struct Amount {
    std::uint64_t count = 0;
    std::uint64_t bytes = 0;
  };

  std::map<RunKey, std::string> runs_;
  std::map<std::pair<RunKey, ObjectClass>, Amount> objects_;
  std::vector<StorageRow> other_;
};

// Of all files, without those of the store that are in it already.
std::uint64_t total_bytes(const std::vector<StorageRow>& rows);

}  // namespace quorate

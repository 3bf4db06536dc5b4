// What each object of a project is used for, for one look at all of them:
// about 50 bytes of memory for each name.
#pragma once

#include <functional>
#include <vector>

#include "server/objects/retention.h"
#include "server/settings/project_folder.h"

namespace quorate {

class ObjectUses {
 public:
  // Of what the store and the data sets name. tick: called now and then; what
  // it throws passes. Throws also what a damaged store or data set throws: who
  // does not know everything that is needed must not remove anything.
  ObjectUses(const ProjectFolder& folder, StoreNames& names,
             const std::function<void()>& tick);

  // Uses that nobody has stored yet.
  void add(const Hash& hash, const ObjectUse& use);
  // The strongest use of the object.
  ObjectUse of(const Hash& hash);

 private:
  struct Entry {
    Hash hash;
    ObjectUse use;
  };
  void sort();

  std::vector<Entry> entries_;
  bool is_sorted_ = true;  // by hash, each once
};

}  // namespace quorate

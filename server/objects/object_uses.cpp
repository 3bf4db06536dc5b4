#include "server/objects/object_uses.h"

#include <algorithm>
#include <map>

#include "server/making/training_run.h"

namespace quorate {
namespace {

constexpr std::size_t kBetweenTicks = 4096;

}  // namespace

ObjectUses::ObjectUses(const ProjectFolder& folder, StoreNames& names,
                       const std::function<void()>& tick) {
  std::map<RunKey, Run> runs;
  for (Run& run : names.runs()) runs.emplace(run.key, std::move(run));
  names.names([&](const ObjectName& name) {
    add(name.hash, use_of(name, runs.at(name.run)));
    if (entries_.size() % kBetweenTicks == 0) tick();
  });
  for (const std::string& name : dataset_names(folder)) {
    const DatasetManifest dataset = load_manifest(folder, name);
    for (const auto* part : {&dataset.train, &dataset.test}) {
      for (const ShardEntry& shard : *part) {
        add(shard.hash, {ObjectClass::shard, 0, true});
      }
    }
  }
}

void ObjectUses::add(const Hash& hash, const ObjectUse& use) {
  entries_.push_back({hash, use});
  is_sorted_ = false;
}

ObjectUse ObjectUses::of(const Hash& hash) {
  if (!is_sorted_) sort();
  const auto found =
      std::lower_bound(entries_.begin(), entries_.end(), hash,
                       [](const Entry& entry, const Hash& wanted) {
                         return entry.hash < wanted;
                       });
  if (found == entries_.end() || found->hash != hash) return {};
  return found->use;
}

void ObjectUses::sort() {
  std::sort(entries_.begin(), entries_.end(),
            [](const Entry& a, const Entry& b) { return a.hash < b.hash; });
  std::size_t kept = 0;
  for (const Entry& entry : entries_) {
    if (kept > 0 && entries_[kept - 1].hash == entry.hash) {
      ObjectUse& use = entries_[kept - 1].use;
      use = stronger(use, entry.use);
    } else {
      entries_[kept++] = entry;
    }
  }
  entries_.resize(kept);
  is_sorted_ = true;
}

}  // namespace quorate

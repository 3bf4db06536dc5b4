#include "server/project/project_core.h"

#include <utility>

namespace quorate {

ProjectCore::ProjectCore(const ProjectParts& parts,
                         std::unique_ptr<Store> store, const Roles& roles,
                         bool is_durable,
                         std::function<void(const std::string&)> on_fatal)
    : store_(std::move(store)),
      objects_(parts.folder.objects(), parts.folder.temporary()),
      state_(std::make_unique<ProjectState>(parts.folder, parts.settings,
                                            parts.keys, parts.clock, *store_,
                                            objects_)),
      writer_(std::make_unique<Writer>(*store_, parts.clock,
                                       std::move(on_fatal),
                                       [this, is_durable] {
                                         if (is_durable) objects_.sync();
                                       })),
      uploads_(std::make_unique<Uploads>(parts.folder.uploads(),
                                         parts.settings.disk_reserve_mb << 20,
                                         state_->open_results, objects_)),
      daemons_(std::make_unique<Daemons>(*state_, *writer_, *uploads_, roles)) {
}

void ProjectCore::job(const std::function<void()>& what) {
  writer_->run([&] {
    what();
    daemons_->settle();
  });
}

void ProjectCore::tick() {
  job([this] {
    daemons_->transitioner.tick();
    daemons_->scheduler.tick();
  });
}

}  // namespace quorate

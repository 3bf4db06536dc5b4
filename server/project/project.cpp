#include "server/project/project.h"

#include "base/arithmetic.h"
#include "protocol/native/messages.h"

namespace quorate {

Project::Project(const fs::path& root, const ServerSettings& settings,
                 const Roles& roles,
                 std::function<void(const std::string&)> on_fatal)
    : folder_{root},
      settings_(settings),
      keys_(load_keys(folder_)),
      lock_(folder_.lock()),
      store_(open_sqlite_store(folder_.database())),
      objects_(folder_.objects(), folder_.temporary()),
      state_(std::make_unique<ProjectState>(folder_, settings_, keys_, clock_,
                                            *store_, objects_)),
      writer_(std::make_unique<Writer>(*store_, clock_, std::move(on_fatal),
                                       [this] { objects_.sync(); })),
      uploads_(std::make_unique<Uploads>(folder_.uploads(),
                                         settings_.disk_reserve_mb << 20,
                                         state_->open_results, objects_)),
      daemons_(std::make_unique<Daemons>(*state_, *writer_, *uploads_, roles)) {
}

Project::~Project() {
  stop();
}

void Project::start() {
  writer_->start();
  daemons_->start();
}

void Project::begin_stop() {
  daemons_->post([this] { daemons_->scheduler.close(); });
}

void Project::stop() {
  daemons_->stop();
  writer_->stop();
}

Bytes Project::statement(const std::string& tls_pin) const {
  protocol::ProjectStatement statement;
  statement.name = settings_.name;
  statement.url = settings_.url;
  statement.key = keys_.project.public_key();
  statement.tls_pin = tls_pin;
  statement.arithmetic = kArithmeticVersion;
  std::string payload = protocol::write(statement);
  return seal(as_bytes(payload), SealKind::project, keys_.id, keys_.project);
}

}  // namespace quorate

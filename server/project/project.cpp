#include "server/project/project.h"

#include <utility>

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
      core_({folder_, settings_, keys_, clock_},
            open_sqlite_store(folder_.database()), roles, true,
            std::move(on_fatal)) {}

Project::~Project() {
  stop();
}

void Project::start() {
  writer().start();
  daemons().start();
}

void Project::begin_stop() {
  daemons().post([this] { daemons().scheduler.close(); });
}

void Project::stop() {
  daemons().stop();
  writer().stop();
}

Bytes Project::statement(const std::string& tls_pin) const {
  protocol::ProjectStatement statement;
  statement.name = settings_.name;
  statement.url = settings_.url;
  statement.keys = keys_.ring;
  statement.issued = clock_.unix_ms();
  statement.expires =
      statement.issued + static_cast<Millis>(1000 * kStatementLife.count());
  statement.tls_pin = tls_pin;
  statement.arithmetic = kArithmeticVersion;
  std::string payload = protocol::write(statement);
  return seal(as_bytes(payload), SealKind::project, keys_.id, keys_.project);
}

}  // namespace quorate

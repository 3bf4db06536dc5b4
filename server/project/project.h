// A project's folder, opened: its keys, the lock that keeps a second process
// out, and the core. The server opens it to serve; the CLI opens it for one
// command when no server runs.
//
// The room server/project wires all rooms before it and owns them, in the order
// of the members below; none before it may include it. A lock in run/ keeps a
// second process out for as long as it lives.
#pragma once

#include <functional>
#include <string>

#include "server/project/project_core.h"

namespace quorate {

// Nobody can show a statement again that is older.
inline constexpr Seconds kStatementLife{30.0 * 86'400};

class Project {
 public:
  // Throws denied if another process has the project open, usage if there is
  // none. on_fatal: see Writer.
  Project(const fs::path& root, const ServerSettings& settings,
          const Roles& roles, std::function<void(const std::string&)> on_fatal);
  ~Project();

  // From here on things happen by themselves.
  void start();
  // Lets go of hosts that wait for work; call before the web front stops.
  void begin_stop();
  void stop();

  const ProjectFolder& folder() const { return folder_; }
  const ProjectKeys& keys() const { return keys_; }
  ProjectState& state() { return core_.state(); }
  Daemons& daemons() { return core_.daemons(); }
  Writer& writer() { return core_.writer(); }
  Uploads& uploads() { return core_.uploads(); }
  // The sealed project statement. tls_pin: of the certificate in use, or "".
  // Issued now, to hold for kStatementLife.
  Bytes statement(const std::string& tls_pin) const;

 private:
  ProjectFolder folder_;
  ServerSettings settings_;
  ProjectKeys keys_;
  FileLock lock_;
  SystemClock clock_;
  ProjectCore core_;
};

}  // namespace quorate

// What an agent is given.
#pragma once

#include <functional>
#include <optional>
#include <stop_token>
#include <vector>

#include "base/bytes.h"
#include "base/clock.h"
#include "base/file.h"
#include "client/agent/computer.h"
#include "client/exchange/object_transfer.h"
#include "client/exchange/result_signing.h"
#include "client/exchange/session.h"
#include "client/folder/project.h"
#include "client/machine/settings.h"
#include "client/permission/governor.h"
#include "client/site/mates.h"
#include "client/site/site_door.h"

namespace quorate::client {

// Of a member of a site.
struct SiteParts {
  SiteDoor& door;
  Mates& mates;
};

// All that an agent needs; references outlive it.
struct AgentParts {
  const Project& project;
  const Identity& identity;
  fs::path folder;  // of the project
  // What the volunteer wants now, asked on every pass; given the process ids of
  // the workers.
  std::function<Orders(const std::vector<int>&)> orders;
  TransferFactory make_transfer;
  std::vector<protocol::WorkerOptions> workers;
  bool once = false;
  const Clock& clock;
  const Network* network = nullptr;    // for `status` only
  ResultTamper* tamper = nullptr;      // test programs only
  std::optional<SiteParts> site = {};  // that this host is a member of
  fs::path data = {};                  // that disk_mb bounds; empty: `folder`
  Seconds stop_patience = kStopPatience;
  // The project's statement as its server gives it now, whoever that is; throws
  // what protocol/transfer/statement does. Empty: what is known stays.
  std::function<Bytes(const std::stop_token&)> fetch_statement = {};
};

}  // namespace quorate::client

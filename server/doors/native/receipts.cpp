#include "server/doors/native/receipts.h"

#include <algorithm>

#include "base/error.h"

namespace quorate {
namespace {

// Rounded down, within what JSON readers keep exact.
std::uint64_t thousandths(double credit) {
  constexpr double kMost = 9e15;
  return static_cast<std::uint64_t>(std::clamp(1000 * credit, 0.0, kMost));
}

}  // namespace

ReceiptRun receipt_run(const HostShare& share, const TrainingRun& training) {
  ReceiptRun run;
  run.run = training.run.id;
  run.name = training.run.name;
  run.state = name_of(training.run.state);
  run.results = share.results;
  run.first_version = share.first_version;
  run.last_version = share.last_version;
  run.ledger_entries = training.next_seq;
  run.ledger_head = training.last_hash;
  return run;
}

Receipt receipt_of(ProjectState& state, HostId id) {
  const Host* host = state.hosts.host(id);
  check(host != nullptr, "a host that has a session is registered");
  const User* user = state.hosts.user(host->user_id);
  check(user != nullptr, "a host has a user");
  Receipt receipt;
  receipt.project = state.settings.name;
  receipt.keys = state.keys.ring;
  receipt.host = host->key;
  receipt.user = user->key;
  receipt.when = state.clock.unix_ms();
  receipt.credit_thousandths = thousandths(host->credit);
  for (const HostShare& share : state.store.shares_of(id)) {
    auto training = state.runs.find(share.run);
    if (training == state.runs.end() || share.results == 0) continue;
    receipt.runs.push_back(receipt_run(share, training->second));
  }
  return receipt;
}

}  // namespace quorate

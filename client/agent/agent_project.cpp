// Who the project is now: its keys change when it renews them, and its server's
// certificate may. Its statement says so under its own seal, whoever brings it.
#include "base/error.h"
#include "base/log.h"
#include "base/retry.h"
#include "client/agent/agent.h"
#include "protocol/transfer/statement.h"

namespace quorate::client {
namespace {

constexpr Seconds kStatementEvery{3600};

// A full disk is no reason to go by what is over: it is asked for again.
void keep(const fs::path& file, const Project& project) {
  try {
    save_project(file, project);
  } catch (const Error& error) {
    log_warning("project_not_saved", {{"why", error.what()}});
  }
}

}  // namespace

bool Agent::awaits_keys() const {
  return parts_.fetch_statement &&
         session_.keys() > parts_.project.statement.keys.number;
}

void Agent::ask_for_statement() {
  const Instant now = parts_.clock.now();
  const bool is_due =
      now >= statement_at_ || (awaits_keys() && statement_misses_ == 0);
  if (!parts_.fetch_statement || is_asking_statement_ || !is_due) return;
  is_asking_statement_ = true;
  upload_lane_.run<Bytes>(
      [fetch = parts_.fetch_statement](ProjectApi& api) {
        return fetch(api.stop());
      },
      [this](const Outcome<Bytes>& outcome) { on_statement(outcome); });
}

void Agent::on_statement(const Outcome<Bytes>& outcome) {
  is_asking_statement_ = false;
  statement_at_ =
      parts_.clock.now() +
      retry_delay(++statement_misses_, seed_ + 3, Seconds(1), Seconds(3600));
  // A server that cannot be reached is told of elsewhere.
  if (outcome.error) return;
  const Project& known = parts_.project;
  try {
    Project found = open_statement(*outcome.value);
    found.url = known.url;
    found.user_name = known.user_name;
    found.host_name = known.host_name;
    found.has_own_keys = known.has_own_keys;
    const std::string why =
        against_statement(found, &known, parts_.clock.unix_ms());
    if (!why.empty()) throw Error(ErrorKind::denied, why);
    quorate::curl_options(found.url, found.statement);  // its pin can be used
    // One that lags behind what the session names was not what was asked for.
    if (found.statement.keys.number >= session_.keys()) {
      statement_misses_ = 0;
      statement_at_ = parts_.clock.now() + kStatementEvery;
    }
    if (found.sealed == known.sealed) return;
    keep(parts_.folder / "project.json", found);
    if (!changes_exchange(found, known)) return;
    log_info("project_renewed", {{"keys", found.statement.keys.number},
                                 {"tls_pin", found.statement.tls_pin}});
    renewed_ = std::move(found);
  } catch (const Error& error) {
    log_warning("statement_refused", {{"why", error.what()}});
  }
}

}  // namespace quorate::client

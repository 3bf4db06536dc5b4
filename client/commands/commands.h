// The commands of the client, after their arguments have been read. Each throws
// Error when it cannot do what it was asked. as_json: what is printed is one
// JSON value.
//
// The room client/commands is the program: command line, one function a
// command, what is printed. It owns nothing beyond a call, and may include all
// other rooms of client/ but the worker.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/file.h"
#include "client/exchange/result_signing.h"
#include "client/folder/attach.h"
#include "client/machine/settings.h"
#include "client/ui/ui.h"

namespace quorate::client {

void attach(const fs::path& dir, const AttachOptions& options, bool as_json);

// url: address or fingerprint of an attached project. deletes_account: has the
// project delete it first; throws, and changes nothing here, if that fails.
// An agent that computes for the project is asked to let go of it, and waited
// for.
void detach(const fs::path& dir, const std::string& url, bool deletes_account,
            bool as_json);

struct RunOptions {
  std::string project;  // address or fingerprint; may be empty for the only one
  RunSettings settings;
  // Without a project waits for one, and makes the data folder.
  bool waits = false;
  fs::path control;  // the socket by which people command it; empty: none
};
// Computes until SIGINT or SIGTERM, or until the project is detached.
void run_agent(const fs::path& dir, const RunOptions& options,
               ResultTamper* tamper);

void show_status(const fs::path& dir, bool as_json);
// duration: "2h"; empty: until resume.
void pause(const fs::path& dir, const std::string& duration, bool as_json);
void finish(const fs::path& dir, bool as_json);
void resume(const fs::path& dir, bool as_json);

struct ReceiptOptions {
  std::string project;  // address or fingerprint; may be empty for the only one
  std::string out;      // file; empty: named by project and day, here
  bool may_replace = false;
  std::string check;   // a file to check instead
  std::string key;     // of the project that it must be of; empty: one attached
  std::string ledger;  // with `check`: a file that must show what it says
};
// Asks the project what this host did, checks its seal, writes it to a file,
// and keeps it in the folder.
void fetch_receipt(const fs::path& dir, const ReceiptOptions& options,
                   bool as_json);
// Checks a file, without the project; with `key` also without a data folder.
void check_receipt(const fs::path& dir, const ReceiptOptions& options,
                   bool as_json);

struct LedgerOptions {
  std::string run;
  std::string project;  // address or fingerprint; may be empty for the only one
  std::string out;      // file; empty: RUN.ledger, here
};
// Writes the run's ledger to the file, or goes on with the one that is there:
// client/exchange/ledger_copy. Throws corrupt, too, if it is not the ledger
// that receipts name which the folder keeps.
void fetch_ledger(const fs::path& dir, const LedgerOptions& options,
                  bool as_json);

// The site of this computer: client/site. create and join throw usage when it
// belongs to another one.
struct SiteOptions {
  std::string secret;  // to join; "-": a line of standard input
  std::vector<std::string> addresses;
  std::uint16_t port = 0;
};
void create_site(const fs::path& dir, const SiteOptions& options, bool as_json);
void join_site(const fs::path& dir, const SiteOptions& options, bool as_json);
void leave_site(const fs::path& dir, const SiteOptions&, bool as_json);
void show_site(const fs::path& dir, const SiteOptions&, bool as_json);

// Prints the last lines of the agent's log; follow: and goes on with what is
// written, until SIGINT or SIGTERM.
void show_log(const fs::path& dir, std::size_t lines, bool follow);

// Serves the local page until SIGINT or SIGTERM.
void run_ui(const fs::path& dir, const UiOptions& options);

void show_prefs(const fs::path& dir, bool as_json);
void set_pref(const fs::path& dir, const std::string& key,
              const std::string& value, bool as_json);
// key: empty for all.
void reset_prefs(const fs::path& dir, const std::string& key, bool as_json);

}  // namespace quorate::client

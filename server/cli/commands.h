// The subcommands of `quorate`; each adds itself to the command line, with a
// callback that runs when it was chosen. main() calls them all, then lets CLI11
// parse; what a callback throws becomes a line for people and an exit status.
//
// The room server/cli turns words into calls and answers into tables. It owns
// nothing: a command asks a running server through AdminClient, or opens the
// project for its own time. It may include everything of server/; nothing
// includes it. What a command asks of the project is in server/orders.
#pragma once

#include <string>

#include "base/file.h"

namespace CLI {
class App;
}

namespace quorate {

// What all subcommands share.
// Lives in main(); callbacks keep references to it.
struct GlobalOptions {
  std::string folder = ".";  // -C
  bool json = false;         // --json
};

void add_init(CLI::App& app, GlobalOptions& options);
void add_dataset(CLI::App& app, GlobalOptions& options);
void add_train(CLI::App& app, GlobalOptions& options);
void add_serve(CLI::App& app, GlobalOptions& options);
void add_show(CLI::App& app, GlobalOptions& options);
void add_lists(CLI::App& app, GlobalOptions& global);  // called by add_show()
void add_users(CLI::App& app, GlobalOptions& global);
void add_storage(CLI::App& app, GlobalOptions& options);
// The orders that only look, of the groups `workunit` and `result`.
void add_workunit_show(CLI::App& workunit, GlobalOptions& options);
void add_result_show(CLI::App& result, GlobalOptions& options);
void add_by_hand(CLI::App& app, GlobalOptions& options);
void add_result(CLI::App& app, GlobalOptions& options);
// The orders that change something, of the groups `result` and `workunit`.
void add_result_orders(CLI::App& result, GlobalOptions& options);
void add_workunit_orders(CLI::App& workunit, GlobalOptions& options);
void add_log(CLI::App& app, GlobalOptions& options);
void add_operators(CLI::App& app, GlobalOptions& options);
void add_audit(CLI::App& app, GlobalOptions& options);
void add_export(CLI::App& app, GlobalOptions& options);
void add_verify_model(CLI::App& app, GlobalOptions& options);
void add_boinc(CLI::App& app, GlobalOptions& options);
void add_backup(CLI::App& app, GlobalOptions& options);
void add_peers(CLI::App& app, GlobalOptions& options);
void add_keys(CLI::App& app, GlobalOptions& options);
void add_simulate(CLI::App& app, GlobalOptions& options);
void add_completion(CLI::App& app, GlobalOptions& options);

}  // namespace quorate

// storage: what the project's folder holds.
#include "server/objects/storage.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/text.h"
#include "server/cli/commands.h"
#include "server/cli/support/progress_line.h"
#include "server/cli/support/table.h"
#include "server/store/store.h"

namespace quorate {
namespace {

using nlohmann::json;

// Asks no server, as `backup` does not: it reads store and folder beside it.
std::vector<StorageRow> measure(const ProjectFolder& folder) {
  load_keys(folder);  // says so if there is no project
  // A project that was never served has no store yet.
  if (!fs::exists(folder.database())) open_sqlite_store(folder.database());
  ProgressLine line;
  const auto names = read_sqlite_names(folder.database());
  line.write("reading what is needed");
  ObjectUses uses(folder, *names, [] {});
  Storage storage;
  std::uint64_t seen = 0;
  ObjectReader(folder.objects()).list([&](const ObjectReader::Found& found) {
    storage.add_object(uses.of(found.hash), found.bytes);
    if (++seen % 1024 == 0) line.write(fmt::format("{} objects", seen));
  });
  storage.add_other(folder, *names);
  return storage.rows();
}

std::string megabytes(std::uint64_t bytes) {
  return fmt::format("{:.1f} MB", static_cast<double>(bytes) / 1e6);
}

json rows_as_json(const std::vector<StorageRow>& rows) {
  json all = json::array();
  for (const StorageRow& row : rows) {
    all.push_back({{"run", row.run.empty() ? json(nullptr) : json(row.run)},
                   {"what", row.what},
                   {"count", row.count},
                   {"bytes", row.bytes},
                   {"in_store", row.is_in_store},
                   {"size", megabytes(row.bytes)}});
  }
  return all;
}

void show_storage(const GlobalOptions& global) {
  const ProjectFolder folder{global.folder};
  const std::vector<StorageRow> rows = measure(folder);
  const std::uint64_t total = total_bytes(rows);
  const std::uint64_t left = free_space(folder.root);
  const json shown = rows_as_json(rows);
  if (global.json) {
    say("{}\n",
        json{{"rows", shown}, {"total_bytes", total}, {"disk_free_bytes", left}}
            .dump());
    return;
  }
  say("{}\n{} in all (the tasks are part of the store); {} free on the disk.\n",
      table(shown, {{"RUN", "run"},
                    {"WHAT", "what"},
                    {"COUNT", "count"},
                    {"SIZE", "size"}}),
      megabytes(total), megabytes(left));
}

}  // namespace

void add_storage(CLI::App& app, GlobalOptions& global) {
  CLI::App* command = app.add_subcommand(
      "storage", "Show what the project's folder holds, by run and kind");
  command->add_flag("--json", global.json, "Machine-readable output");
  command->footer("Example:\n  quorate -C my-project storage\n");
  command->callback([&global] { show_storage(global); });
}

}  // namespace quorate

// workunit show, result show: everything about one unit. What changes a unit is
// in result.cpp.
#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/text.h"
#include "server/cli/commands.h"
#include "server/cli/support/client.h"
#include "server/cli/unit_text.h"

namespace quorate {
namespace {

using nlohmann::json;

// object: "workunit" or "result", whose id is asked for.
void add_unit_show(CLI::App& group, GlobalOptions& global, const char* object,
                   const std::string& help) {
  auto id = std::make_shared<std::int64_t>();
  CLI::App* command = group.add_subcommand("show", help);
  command
      ->add_option("ID", *id, fmt::format("As `quorate {}s` shows it", object))
      ->required();
  command->add_flag("--json", global.json, "Machine-readable output");
  command->footer(
      fmt::format("Example:\n  quorate -C my-project {} show 17\n", object));
  command->callback([id, object, &global] {
    const json unit =
        AdminClient(global.folder).call("workunit-show", {{object, *id}});
    say("{}", global.json ? unit.dump() + "\n" : unit_text(unit));
  });
}

}  // namespace

void add_workunit_show(CLI::App& workunit, GlobalOptions& global) {
  add_unit_show(workunit, global, "workunit",
                "Show its task, its results, where they differ, who vouched, "
                "and what happens next");
}

void add_result_show(CLI::App& result, GlobalOptions& global) {
  add_unit_show(result, global, "result",
                "Show its workunit with all results: the same as `workunit "
                "show`");
}

}  // namespace quorate

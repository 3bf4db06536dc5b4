#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/text.h"
#include "server/cli/commands.h"
#include "server/settings/address.h"
#include "server/settings/project_folder.h"
#include "server/settings/settings.h"

namespace quorate {
namespace {

void expect(const std::optional<std::string>& text,
            bool (*is_good)(const std::string&), const char* option,
            const char* expected) {
  constexpr std::size_t kShown = 80;
  if (!text || is_good(*text)) return;
  throw Error(ErrorKind::usage,
              fmt::format("init: {} \"{}{}\": expected {}", option,
                          text->substr(0, kShown),
                          text->size() > kShown ? "..." : "", expected));
}

}  // namespace

void add_init(CLI::App& app, GlobalOptions& global) {
  struct Options {
    std::string folder;
    std::optional<std::string> name;
    std::optional<std::string> url;
  };
  auto options = std::make_shared<Options>();
  CLI::App* command =
      app.add_subcommand("init", "Make a new project: keys, store, settings");
  command->add_option("DIR", options->folder, "A new or empty folder")
      ->required();
  command->add_option("--name", options->name, "Name that volunteers see");
  command->add_option("--url", options->url,
                      "Where volunteers reach the server, e.g. "
                      "https://host.example:8470");
  command->add_flag("--json", global.json, "Machine-readable output");
  command->footer(
      "Example:\n  quorate init my-project --name \"My project\"\n");
  command->callback([options, &global] {
    ProjectFolder folder{options->folder};
    expect(options->name, is_project_name, "--name", kProjectName);
    expect(options->url, is_public_url, "--url", kPublicUrl);
    create_project(folder, options->name.value_or(""),
                   options->url.value_or(""));
    ProjectKeys keys = load_keys(folder);
    if (global.json) {
      nlohmann::json row = {{"folder", folder.root.string()},
                            {"fingerprint", fingerprint(keys.id)},
                            {"project_key", folder.project_key().string()}};
      say("{}\n", row.dump());
      return;
    }
    say("Made project {} (fingerprint {}).\n"
        "Keep {} safe: whoever has it can speak for the project.\n"
        "Next:\n"
        "  quorate -C {} dataset add glyphs\n"
        "  quorate -C {} train create first --dataset glyphs\n"
        "  quorate -C {} serve\n",
        folder.root.string(), fingerprint(keys.id),
        folder.project_key().string(), folder.root.string(),
        folder.root.string(), folder.root.string());
  });
}

}  // namespace quorate
